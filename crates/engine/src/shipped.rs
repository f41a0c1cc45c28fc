//! The guidance that installed packages ship, with its cost.

use std::path::Path;

use brief_dialects::dependencies::{
    self, DependencyExtent, DependencySurvey, Package, PackageContent, ShippedKind, ShippedText,
};
use brief_system::System;

use crate::tokens::Counter;

/// The packages of a project that ship guidance.
#[derive(Debug)]
pub struct ShippedGuidance {
    /// The packages: direct ones first.
    pub packages: Vec<ShippingPackage>,
    /// The number of packages that were looked at.
    pub looked_at: usize,
    /// Remarks about what was not read.
    pub notes: Vec<String>,
}

/// A package that ships guidance.
#[derive(Debug)]
pub struct ShippingPackage {
    /// The package.
    pub package: Package,
    /// Its texts, each with its tokens.
    pub texts: Vec<(ShippedText, usize)>,
    /// Its capabilities, as `brief.lock` records them.
    pub capabilities: Vec<String>,
}

impl ShippedGuidance {
    /// Reads what the packages ship, seen from a directory of the project.
    pub fn read(
        system: &dyn System,
        root: &Path,
        directory: &Path,
        extent: DependencyExtent,
        counter: &Counter<'_>,
    ) -> ShippedGuidance {
        let survey = dependencies::survey_dependencies(system, root, directory, extent);
        let DependencySurvey { packages, looked_at, notes } = survey;
        let packages = packages.into_iter().map(|package| {
            let content = PackageContent::read(system, &package);
            let capabilities = content.capabilities();
            let texts = content.texts.into_iter().map(|text| {
                let tokens = counter.count(text.body());
                (text, tokens)
            });
            ShippingPackage { texts: texts.collect(), capabilities, package }
        });
        ShippedGuidance { packages: packages.collect(), looked_at, notes }
    }
}

impl ShippingPackage {
    /// Returns the kinds of its texts, each with their number.
    pub fn count_kinds(&self) -> Vec<(ShippedKind, usize)> {
        let count = |kind| self.texts.iter().filter(|(text, _)| text.file.kind == kind).count();
        let kinds = ShippedKind::ALL.into_iter().map(|kind| (kind, count(kind)));
        kinds.filter(|(_, count)| *count > 0).collect()
    }

    /// Returns the tokens of all texts.
    pub fn tokens(&self) -> usize {
        self.texts.iter().map(|(_, tokens)| tokens).sum()
    }
}
