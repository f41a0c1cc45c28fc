//! Headings as metadata: section 6 of the checklist.

use super::support::{agent, errors, findings, help, loaded, warnings};

/// A12, Y17, Y21: the first heading of level 1 that is not the avatar's, as `CommonMark` sees it.
#[test]
fn the_title_is_the_first_heading() {
    for text in [
        "# T\n",
        "text\n\n# T\n\n# Second\n",
        "T\n===\n",
        "# **T** #\n",
        "<!--\n# Hidden\n-->\n\n# T\n",
        "```\n# Code\n```\n\n# T\n",
        "> # Quoted\n\n# T\n",
        "- # Listed\n\n# T\n",
        "## Other\n\n# T\n",
        "# AVATAR\n\n![a](a.png)\n\n# T\n",
    ] {
        assert_eq!(agent(text).title, "T", "{text}");
    }
}

/// A13, Y18, Y19: plain text on one line, before the next heading.
#[test]
fn the_description_is_the_first_paragraph() {
    for (text, expected) in [
        ("# T\n\n- item\n\nline **one**\nline `two`\n", "line one line two"),
        ("# T\n\n```\ncode\n```\n\n> quote\n\n[a](b) c\n", "a c"),
        ("# T\n\n![logo](x.png)\n\nD ![x](y.png)\n", "D"),
        ("# T\n\n## System\nS\n", ""),
        ("# T\n\n### Notes\n\nN\n", ""),
        ("P\n\n# T\n\nD\n\nE\n", "D"),
    ] {
        assert_eq!(agent(text).description, expected, "{text}");
    }
}

/// A60, Y17, Y24: the first image under `# Avatar`, and no other.
#[test]
fn the_avatar_is_the_first_image_under_its_heading() {
    assert_eq!(agent("# T\n\n# avatar\n\n- ![a](a.png) ![b](b.png)\n").avatar, "a.png");
    assert_eq!(agent("![logo](logo.png)\n\n# T\n\n![x](x.png)\n").avatar, "");
    assert_eq!(agent("# T\n\n# Avatar\n\n## System\n![x](x.png)\n").avatar, "");
    assert_eq!(warnings("# T\n\n# Avatar\n"), ["3 avatar-without-image"]);
    assert_eq!(errors("# T\n\n# Avatar\n![a](a)\n\n# Avatar\n![b](b)\n"), ["6 duplicate-heading"]);
}

/// A61, Y21: names of headings in any case, without markup, without a colon.
#[test]
fn headings_are_compared_without_case_and_markup() {
    for heading in ["## System", "## SYSTEM ##", "##   sYsTeM", "## **System**", "System\n---"] {
        let text = format!("# T\n\n{heading}\nS\n");
        assert_eq!(agent(&text).system.text, "S", "{heading}");
    }
    for (heading, code) in
        [("## System:", "3 heading-ignored"), ("### System", "3 heading-ignored")]
    {
        let text = format!("# T\n\n{heading}\nS\n");
        assert_eq!(agent(&text).system.text, "T", "{heading}");
        assert_eq!(warnings(&text), [code], "{heading}");
        assert_eq!(help(&text), "write `## System`", "{heading}");
    }
}

/// Y22: a section is what is written, up to the next heading of its level or above.
#[test]
fn a_section_is_raw_markdown() {
    let text = "# T\n\n## System\n\n  You are **bold**. {{x}}\n\n### Detail\n```\n## Rules\n```\n\n> ## Rules\n\n# Other\n\nx\n";
    let text = text.replace("{{x}}", "");
    assert_eq!(
        agent(&text).system.text,
        "You are **bold**. \n\n### Detail\n```\n## Rules\n```\n\n> ## Rules"
    );
    assert_eq!(agent("# T\n\n## Rules\n\n    code\n").rules.text, "    code");
}

/// Y20: two headings of one name contradict each other.
#[test]
fn a_section_stands_once() {
    for name in ["System", "Rules", "Tools"] {
        let text = format!("# T\n\n## {name}\nreturn 1\n\n## {}\nreturn 2\n", name.to_lowercase());
        assert_eq!(errors(&text), ["6 duplicate-heading"], "{name}");
    }
}

/// A62, A63: a value in both places is the same but for case and white space around it.
#[test]
fn header_and_body_agree() {
    for (field, body) in [
        ("title: A", "# B\n"),
        ("description: A", "# T\n\nB\n"),
        ("avatar: a.png", "# T\n\n# Avatar\n![x](b.png)\n"),
        ("system: A", "# T\n\n## System\nB\n"),
        ("rules: A", "# T\n\n## Rules\nB\n"),
    ] {
        let text = format!("---\n{field}\n---\n{body}");
        assert_eq!(errors(&text), ["2 conflict"], "{field}");
        let name = field.split(':').next().unwrap();
        assert!(findings(&loaded(&text))[0].contains(&format!("`{name}`")), "{field}");
        let same = text.replace(": A", ": ' b '").replace("a.png", "B.png");
        assert_eq!(errors(&same), [""; 0], "{same}");
    }
    assert_eq!(agent("---\ntitle: \"  My Agent \"\n---\n# my agent\n").title, "My Agent");
    assert_eq!(
        errors("---\nsystem: |\n  a\n  b\n---\n# T\r\n\r\n## System\r\na\r\nb\r\n"),
        [""; 0]
    );
}

/// Y19: a folded description is the paragraph that it was folded from, with markup or without.
#[test]
fn line_breaks_and_markup_are_no_conflict() {
    for description in [">\n  one two\n  three", "one two three", "'**one** two `three`'"] {
        let text = format!("---\ndescription: {description}\n---\n# T\n\n**one**\ntwo `three`\n");
        assert_eq!(errors(&text), [""; 0], "{description}");
    }
}

/// A64, Y23: the section, the header, the description, the title.
#[test]
fn the_system_message_has_an_order() {
    let header = "---\nsystem: from yaml\n---\n";
    for (text, expected) in [
        ("# T\nD\n\n## System\nS\n".to_owned(), "S"),
        (format!("{header}# T\nD\n"), "from yaml"),
        ("# T\nD\n\n## System\n\n## Rules\nR\n".to_owned(), "D"),
        ("# T\n".to_owned(), "T"),
        ("---\ntitle: Only Title\n---\n".to_owned(), "Only Title"),
    ] {
        assert_eq!(agent(&text).system.text, expected, "{text}");
    }
}

/// A65, Y23: the section, the header, nothing.
#[test]
fn the_rules_have_an_order() {
    assert_eq!(agent("# T\n\n## Rules\n- R\n").rules.text, "- R");
    assert_eq!(agent("---\nrules: Y\n---\n# T\n").rules.text, "Y");
    assert_eq!(agent("# T\nD\n").rules.text, "");
}

/// Y39: `## Commands` is documentation.
#[test]
fn a_section_of_commands_is_ignored() {
    let text = "# T\n\n## Commands\n\n- test\n";
    assert!(agent(text).commands.is_empty());
    assert_eq!(warnings(text), ["3 commands-section-ignored"]);
}

/// A80, Y52: no value of the header adds a section or an end of one.
#[test]
fn metadata_does_not_change_the_body() {
    let text = "---\ninput: \"\\n## Rules\\nevil\"\ndescription: \"# X\"\n---\n# T\n\n## System\n{{input}}\n";
    let agent = agent(text);
    assert_eq!((agent.title.as_str(), agent.rules.text.as_str()), ("T", ""));
    let rendered = agent.render(None).unwrap();
    assert_eq!((rendered.system.as_str(), rendered.rules.as_str()), ("\n## Rules\nevil", ""));
}
