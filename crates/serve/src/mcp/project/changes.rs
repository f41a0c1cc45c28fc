//! Tells clients when a list or a resource has changed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer, ServiceError, SubscriptionContext, SubscriptionSendError};
use tokio::sync::watch;

use super::super::gateway::{Gateway, GatewayLists};
use super::SharedProject;
use super::offers::Offers;

/// The resources that a client of an older revision has subscribed to.
pub(super) type Subscriptions = Arc<Mutex<BTreeSet<String>>>;

/// The limit for the subscriptions of one client.
pub(super) const MOST_SUBSCRIPTIONS: usize = 10_000;

/// A difference between what a client knows and what there is.
#[derive(Debug, Default)]
struct Changes {
    tools: bool,
    prompts: bool,
    resources: bool,
    offers: Option<(Arc<Offers>, Arc<Offers>)>,
}

impl Changes {
    fn updated_uris<'u>(&self, uris: impl IntoIterator<Item = &'u String>) -> Vec<String> {
        let Some((before, after)) = &self.offers else { return Vec::new() };
        let is_changed = |uri: &&String| after.has_other_content(before, uri);
        uris.into_iter().filter(is_changed).cloned().collect()
    }
}

/// The lists that a client knows, and the news about them.
pub(super) struct ListNews {
    offers: watch::Receiver<Option<Arc<Offers>>>,
    known: Option<Arc<Offers>>,
    gateway: Option<watch::Receiver<GatewayLists>>,
    known_gateway: GatewayLists,
}

impl ListNews {
    pub(super) fn subscribe(shared: &SharedProject) -> ListNews {
        let mut offers = shared.offers.subscribe();
        let known = offers.borrow_and_update().clone();
        let mut gateway = shared.gateway.as_ref().map(Gateway::lists);
        let known_gateway =
            gateway.as_mut().map(|lists| lists.borrow_and_update().clone()).unwrap_or_default();
        ListNews { offers, known, gateway, known_gateway }
    }

    /// Waits for the next change; `None` when the server ends.
    async fn next(&mut self) -> Option<Changes> {
        loop {
            let ListNews { offers, gateway, .. } = self;
            let gateway_changed = async {
                match gateway {
                    Some(lists) => lists.changed().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = offers.changed() => {
                    changed.ok()?;
                    let made = self.offers.borrow_and_update().clone()?;
                    let Some(before) = self.known.replace(Arc::clone(&made)) else { continue };
                    return Some(Changes {
                        tools: false,
                        prompts: made.has_other_prompts(&before),
                        resources: made.has_other_resources(&before),
                        offers: Some((before, made)),
                    });
                }
                changed = gateway_changed => {
                    changed.ok()?;
                    let lists = self.gateway.as_mut()?.borrow_and_update().clone();
                    let before = std::mem::replace(&mut self.known_gateway, lists);
                    return Some(Changes {
                        tools: before.tools != self.known_gateway.tools,
                        prompts: before.prompts != self.known_gateway.prompts,
                        ..Changes::default()
                    });
                }
            }
        }
    }
}

/// Tells a client of an older revision of every change, until it has left.
pub(super) async fn tell_peer(
    peer: Peer<RoleServer>,
    mut news: ListNews,
    subscriptions: Subscriptions,
) {
    while let Some(changes) = news.next().await {
        let uris = {
            let subscribed = subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
            changes.updated_uris(subscribed.iter())
        };
        let telling = async {
            if changes.tools {
                peer.notify_tool_list_changed().await?;
            }
            if changes.prompts {
                peer.notify_prompt_list_changed().await?;
            }
            if changes.resources {
                peer.notify_resource_list_changed().await?;
            }
            for uri in uris {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
            }
            Ok::<(), ServiceError>(())
        };
        if telling.await.is_err() {
            return;
        }
    }
}

/// Tells a client of the newest revision of the changes that it listens for, until it cancels.
pub(super) async fn tell_listener(context: SubscriptionContext, mut news: ListNews) {
    let (sink, wants) = (context.sink().clone(), context.accepted().clone());
    loop {
        let changes = tokio::select! {
            changes = news.next() => changes,
            () = context.cancelled() => return,
        };
        let Some(changes) = changes else { return };
        let telling = async {
            if changes.tools && wants.tools_list_changed == Some(true) {
                sink.notify_tool_list_changed().await?;
            }
            if changes.prompts && wants.prompts_list_changed == Some(true) {
                sink.notify_prompt_list_changed().await?;
            }
            if changes.resources && wants.resources_list_changed == Some(true) {
                sink.notify_resource_list_changed().await?;
            }
            for uri in changes.updated_uris(wants.resource_subscriptions.iter().flatten()) {
                sink.notify_resource_updated(uri).await?;
            }
            Ok::<(), SubscriptionSendError>(())
        };
        if telling.await.is_err() {
            return;
        }
    }
}
