//! Patches in the format of Codex: one call may touch several files.

use brief_dialects::Action;

use super::{ToolEffect, Touch};

/// Returns the files that a patch names, in order.
pub(super) fn collect_patch_touches(text: &str) -> Vec<Touch> {
    let headers = [
        ("*** Add File: ", Action::Create),
        ("*** Update File: ", Action::Edit),
        ("*** Delete File: ", Action::Edit),
        ("*** Move to: ", Action::Create),
    ];
    let named = text.lines().filter_map(|line| {
        let (path, action) = headers
            .iter()
            .find_map(|&(header, action)| Some((line.strip_prefix(header)?.trim(), action)))?;
        (!path.is_empty()).then(|| Touch::new(path, ToolEffect::Does(action)))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch_counts() {
        let patch = "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: a b.py\n\
                     *** Move to: c.py\n@@\n-*** Add File: no\n*** End Patch";
        let found: Vec<_> = collect_patch_touches(patch)
            .into_iter()
            .map(|touch| (touch.path.display().to_string(), touch.how))
            .collect();
        assert_eq!(
            found,
            [
                ("new.py".to_owned(), ToolEffect::Does(Action::Create)),
                ("a b.py".to_owned(), ToolEffect::Does(Action::Edit)),
                ("c.py".to_owned(), ToolEffect::Does(Action::Create)),
            ]
        );
    }
}
