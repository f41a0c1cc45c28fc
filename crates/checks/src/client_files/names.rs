//! Names that clients know, for a name that they do not.

/// Keys that other formats have for the same, with the names that clients know.
const SYNONYMS: [(&str, &str); 3] =
    [("tags", "keywords"), ("website", "homepage"), ("repo", "repository")];

/// Returns the known key that means the same.
pub(super) fn find_synonym<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let (_, meant) = SYNONYMS.iter().find(|(other, _)| *other == name)?;
    known.iter().find(|known| *known == meant).copied()
}

/// Names the events that have a word in common with a name; all, if none has.
pub(super) fn list_events(name: &str, known: &[&str]) -> String {
    let split_words = |name: &str| -> Vec<String> {
        let mut words = vec![String::new()];
        for letter in name.chars() {
            if letter.is_uppercase() || !letter.is_alphanumeric() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
                word.extend(letter.to_lowercase());
            }
        }
        words.retain(|word| word.len() > 2);
        words
    };
    let wanted = split_words(name);
    let is_like = |event: &&&str| split_words(event).iter().any(|word| wanted.contains(word));
    let like: Vec<&str> = known.iter().filter(is_like).copied().collect();
    if like.is_empty() {
        format!("known events: {}", known.join(", "))
    } else {
        format!("similar events: {}", like.join(", "))
    }
}
