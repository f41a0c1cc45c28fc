//! The implementation of [`Dialect`] for guidance of packages.
//!
//! The dialect finds no file during a walk: the engine asks for the packages that the locks on the way have
//! recorded, and for those that the user names. A project that has chosen none pays nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::{Diagnostic, Rule, Source, Span, rules};
use brief_system::System;

use super::model::{DependencyChoice, LockedDependency, Package, PackageId};
use super::recorded;
use super::search::{self, DependencyExtent};
use super::text::{PackageContent, ShippedText};
use super::{NAME, SCOPE};
use crate::answer::{Applied, Level, Name, Reason, Resolution, State};
use crate::moment::{DEPENDENCIES, Moment};
use crate::{Dialect, DialectGuidance, Item, LockRole, PackageQuestion};
use brief_safety::capability::{Capability, CapabilityFinding};

/// The dialect of guidance that installed packages ship.
#[derive(Debug, Clone, Copy)]
pub struct Dependencies;

impl Dialect for Dependencies {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "Guidance of installed packages that the project has selected"
    }

    fn noun(&self) -> &'static str {
        "files of selected packages"
    }

    fn lock_role(&self) -> LockRole {
        LockRole::Packages
    }

    fn read_packages(
        &self,
        system: &dyn System,
        asked: PackageQuestion<'_, '_>,
    ) -> Option<Box<dyn DialectGuidance>> {
        Some(Box::new(PackageGuidance::read(system, asked)?))
    }
}

/// The guidance of the packages that a question is about.
#[derive(Debug, Default)]
pub struct PackageGuidance {
    offers: Vec<PackageOffer>,
    diagnostics: Vec<Diagnostic>,
}

/// A text of a package, on offer or held back.
#[derive(Debug)]
struct PackageOffer {
    package: Arc<Package>,
    text: ShippedText,
    name: String,
    reason: String,
    is_offered: bool,
    level: Level,
}

impl PackageGuidance {
    /// Reads the packages that locks record, each lock with its directory, and those that the user has
    /// chosen for one question, seen from `directory`. `None` if there are none.
    pub fn read(system: &dyn System, asked: PackageQuestion<'_, '_>) -> Option<PackageGuidance> {
        let PackageQuestion { root, directory, recorded, choice } = asked;
        let mut guidance = PackageGuidance::default();
        let mut is_asked = false;
        for (place, locked) in recorded {
            // The user's own lock is about no project, and a dependency chooses nothing.
            let Ok(below) = place.strip_prefix(root) else { continue };
            if below.iter().any(|name| DEPENDENCIES.iter().any(|known| name == *known)) {
                continue;
            }
            is_asked = true;
            guidance.add_recorded(system, root, place, locked);
        }
        let named = match choice {
            DependencyChoice::Recorded => return is_asked.then_some(guidance),
            DependencyChoice::Direct => {
                vec![(
                    None,
                    search::survey_dependencies(system, root, directory, DependencyExtent::Direct),
                )]
            }
            DependencyChoice::Named(names) => {
                let found = names.iter().map(|name| {
                    (
                        Some(name.to_string()),
                        search::find_named_packages(system, root, directory, name),
                    )
                });
                found.collect()
            }
        };
        for (name, found) in named {
            if let Some(name) = name.filter(|_| found.packages.is_empty()) {
                let message = format!("package `{name}` is not installed");
                guidance.report_problem(rules::project::DEPENDENCY_MISSING, directory, message, "");
            }
            for package in found.packages {
                guidance.add_chosen(system, root, &package);
            }
            for note in found.notes {
                guidance.report_problem(rules::project::DEPENDENCY_MISSING, directory, note, "");
            }
        }
        Some(guidance)
    }

    fn add_recorded(
        &mut self,
        system: &dyn System,
        root: &Path,
        place: &Path,
        locked: &LockedDependency,
    ) {
        let lock = place.join("brief.lock");
        match recorded::resolve_chosen_package(system, root, place, locked) {
            Ok(chosen) => {
                if !chosen.is_offered {
                    let message = format!("the package is not listed: {}", chosen.reason);
                    let help = "run `brief sync` to review its capabilities and accept it";
                    self.report_problem(rules::project::DEPENDENCY_CHANGED, &lock, message, help);
                }
                self.add_texts(
                    place,
                    chosen.package,
                    chosen.texts,
                    &chosen.reason,
                    chosen.is_offered,
                );
            }
            Err(notes) => {
                let note = notes.first().map(|note| format!(": {note}")).unwrap_or_default();
                let message = format!("the selected package {} is not installed{note}", locked.id);
                let help = "install it, or remove it from `[dependencies]` in brief.toml";
                self.report_problem(rules::project::DEPENDENCY_MISSING, &lock, message, help);
            }
        }
    }

    /// Adds a package that the user names for this question. No user has accepted it, so it is checked now.
    fn add_chosen(&mut self, system: &dyn System, root: &Path, package: &Package) {
        let is_known = |offer: &PackageOffer| {
            offer.package.directory == package.directory && offer.package.id == package.id
        };
        if self.offers.iter().any(is_known) {
            return;
        }
        let PackageContent { texts, findings, .. } = PackageContent::read(system, package);
        let (mut fine, mut blocked) = (Vec::new(), Vec::new());
        for text in texts {
            let own = match text.file.kind {
                super::ShippedKind::Skill => text.path.parent().unwrap_or(&text.path).to_owned(),
                _ => text.path.clone(),
            };
            let blocks = findings.iter().find(|found| {
                found.capability.is_blocking() && found.source.path().starts_with(&own)
            });
            match blocks {
                Some(found) => blocked.push((text, found.evidence.clone())),
                None => fine.push(text),
            }
        }
        let is_grave = |capability: Capability| {
            capability.is_blocking()
                || matches!(capability, Capability::Injection | Capability::ControlCharacters)
        };
        let grave = findings.iter().filter(|found| is_grave(found.capability));
        self.diagnostics.extend(grave.map(CapabilityFinding::to_diagnostic));
        let reason = format!("`--dependencies` requests {}", package.id);
        self.add_texts(root, package.clone(), fine, &reason, true);
        for (text, evidence) in blocked {
            let reason = format!("no user has accepted its hidden content: {evidence}");
            self.add_texts(root, package.clone(), vec![text], &reason, false);
        }
    }

    fn add_texts(
        &mut self,
        place: &Path,
        package: Package,
        texts: Vec<ShippedText>,
        reason: &str,
        is_offered: bool,
    ) {
        let level = Level::of_directory(place, false);
        let package = Arc::new(package);
        for text in texts {
            let name = format!("{} {}", package.id, text.name);
            let (is_offered, reason) = match &text.problem {
                None => (is_offered, reason.to_owned()),
                Some(problem) => (false, problem.clone()),
            };
            let package = Arc::clone(&package);
            self.offers.push(PackageOffer { package, text, name, reason, is_offered, level });
        }
    }

    fn report_problem(&mut self, rule: Rule, path: &Path, message: String, help: &str) {
        let source = Arc::new(Source::without_text(path));
        let diagnostic = Diagnostic::new(rule, &source, Span::default(), message);
        self.diagnostics.push(match help {
            "" => diagnostic,
            help => diagnostic.with_help(help),
        });
    }
}

/// Returns whether the work is in the code of a package.
fn is_inside(target: Option<&PathBuf>, package: &Package) -> bool {
    target.is_some_and(|target| package.code.iter().any(|code| target.starts_with(code)))
}

impl DialectGuidance for PackageGuidance {
    fn resolve_items<'s>(&'s self, moment: &Moment, answer: &mut Resolution<'s>) {
        let target =
            moment.located_target().map(|target| moment.root.path().join(target.slashed()));
        for offer in &self.offers {
            let PackageOffer { package, text, name, reason, is_offered, level } = offer;
            let id: &PackageId = &package.id;
            let item = Item {
                dialect: NAME,
                kind: text.file.kind.item_kind(),
                name: Name::Text(name),
                path: &text.path,
                line: 1,
                scope: SCOPE,
                trigger: None,
                holds: false,
                check: None,
                is_for_after: false,
                state: State::Listed,
                content: text.body(),
                description: &text.description,
                patterns: &[],
                level: *level,
                package: Some(id),
            };
            let applied = Applied::new(item, Reason::Stated(reason));
            if is_inside(target.as_ref(), package) {
                let reason = Reason::Composed(format!("does not apply to work inside {id}"));
                answer.leave_out(|| applied.leave_out(reason));
            } else if *is_offered {
                answer.items.push(applied);
            } else {
                answer.leave_out(|| applied.leave_out(Reason::Stated(reason)));
            }
        }
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn each_file<'s>(&'s self, tell: &mut dyn FnMut(&'s Path)) {
        self.offers.iter().for_each(|offer| tell(offer.text.source.path()));
    }
}
