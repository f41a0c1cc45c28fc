//! Tells clients when a list or a resource has changed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use tokio::sync::watch;

use super::offers::Offers;

/// The resources that a client of an older revision has subscribed to.
pub(super) type Subscriptions = Arc<Mutex<BTreeSet<String>>>;

/// The limit for the subscriptions of one client.
pub(super) const MOST_SUBSCRIPTIONS: usize = 10_000;

/// A difference between two states of the offers.
struct Changes<'o> {
    before: &'o Offers,
    after: &'o Offers,
}

impl Changes<'_> {
    fn updated<'u>(&self, uris: impl IntoIterator<Item = &'u String>) -> Vec<String> {
        let is_changed = |uri: &&String| self.after.has_other_content(self.before, uri);
        uris.into_iter().filter(is_changed).cloned().collect()
    }
}

/// Waits for the next state of the offers after `known`; `None` when the server ends.
async fn next(
    offers: &mut watch::Receiver<Option<Arc<Offers>>>,
    known: Option<&Arc<Offers>>,
) -> Option<Arc<Offers>> {
    loop {
        offers.changed().await.ok()?;
        let made = offers.borrow_and_update().clone();
        if let Some(made) = made
            && known.is_none_or(|known| !Arc::ptr_eq(known, &made))
        {
            return Some(made);
        }
    }
}

/// Tells a client of an older revision of every change, until it has left.
pub(super) async fn tell_peer(
    peer: Peer<RoleServer>,
    mut offers: watch::Receiver<Option<Arc<Offers>>>,
    subscriptions: Subscriptions,
) {
    let mut known = offers.borrow_and_update().clone();
    while let Some(made) = next(&mut offers, known.as_ref()).await {
        if let Some(before) = &known {
            let changes = Changes { before, after: &made };
            let uris = {
                let subscribed = subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
                changes.updated(subscribed.iter())
            };
            let mut told = Ok(());
            if made.has_other_prompts(before) {
                told = peer.notify_prompt_list_changed().await;
            }
            if told.is_ok() && made.has_other_resources(before) {
                told = peer.notify_resource_list_changed().await;
            }
            for uri in uris {
                if told.is_ok() {
                    let param = ResourceUpdatedNotificationParam::new(uri);
                    told = peer.notify_resource_updated(param).await;
                }
            }
            if told.is_err() {
                return;
            }
        }
        known = Some(made);
    }
}

/// Tells a client of the newest revision of the changes that it listens for, until it cancels.
pub(super) async fn tell_listener(
    context: SubscriptionContext,
    mut offers: watch::Receiver<Option<Arc<Offers>>>,
) {
    let mut known = offers.borrow_and_update().clone();
    let sink = context.sink().clone();
    let wants: SubscriptionFilter = context.accepted().clone();
    loop {
        let made = tokio::select! {
            made = next(&mut offers, known.as_ref()) => made,
            () = context.cancelled() => return,
        };
        let Some(made) = made else { return };
        if let Some(before) = &known {
            let changes = Changes { before, after: &made };
            let mut told = Ok(());
            if wants.prompts_list_changed == Some(true) && made.has_other_prompts(before) {
                told = sink.notify_prompt_list_changed().await;
            }
            if told.is_ok()
                && wants.resources_list_changed == Some(true)
                && made.has_other_resources(before)
            {
                told = sink.notify_resource_list_changed().await;
            }
            for uri in changes.updated(wants.resource_subscriptions.iter().flatten()) {
                if told.is_ok() {
                    told = sink.notify_resource_updated(uri).await;
                }
            }
            if told.is_err() {
                return;
            }
        }
        known = Some(made);
    }
}
