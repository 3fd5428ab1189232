//! A type is called by a noun, as docs/style.md asks: names that are participles, question words or prepositions say nothing of
//! what a value is, and end up on ten types at once.

use anyhow::Result;
use proc_macro2::TokenTree;
use syn::Item;

use super::outcome::{Outcome, none};
use crate::{
    source,
    workspace::{packages, shown},
};

/// No type may be called so.
const FORBIDDEN: &[&str] = &[
    "Aftermath",
    "Afterwards",
    "Also",
    "Among",
    "Around",
    "Arriving",
    "As",
    "Asking",
    "Became",
    "Before",
    "Begins",
    "Belonging",
    "Below",
    "Beside",
    "Between",
    "Bond",
    "By",
    "Doing",
    "Done",
    "Effective",
    "Elsewhere",
    "EpicQuestion",
    "Extras",
    "Following",
    "Further",
    "Hasten",
    "HeadQuestion",
    "How",
    "Inquirer",
    "Instead",
    "Judge",
    "Keeper",
    "Kinship",
    "Late",
    "Later",
    "Leaves",
    "Leaving",
    "ListQuestion",
    "Listening",
    "Look",
    "LookAt",
    "LookInto",
    "LookStore",
    "Manages",
    "ManagesItems",
    "MayChange",
    "MayRead",
    "Measuring",
    "No",
    "Nothing",
    "Now",
    "Obstacle",
    "Occasion",
    "Of",
    "Offer",
    "On",
    "Once",
    "Own",
    "Patience",
    "Pending",
    "Place",
    "Places",
    "Proposal",
    "Question",
    "Reach",
    "Reading",
    "Reads",
    "ReadsItems",
    "Rest",
    "Running",
    "Setback",
    "Sides",
    "Speaker",
    "Surroundings",
    "Taker",
    "TakesPart",
    "Thing",
    "Touch",
    "Unknown",
    "Via",
    "Waiting",
    "Want",
    "Way",
    "What",
    "When",
    "Where",
    "Who",
    "Whom",
    "Whose",
    "WhosePicture",
    "Why",
    "WhyNot",
    "Wish",
    "Wishes",
    "Within",
    "Words",
    "Wrong",
];

/// Participles that do not end in `ed`: no name may end so.
const PARTICIPLES: &[&str] = &[
    "Begun", "Bound", "Brought", "Built", "Chosen", "Found", "Given", "Gone", "Heard", "Held",
    "Kept", "Known", "Lent", "Lost", "Made", "Met", "Said", "Seen", "Sent", "Shown", "Spent",
    "Taken", "Told", "Written",
];

/// Participles of talk: no name may begin so.
const FIRST_WORDS: &[&str] =
    &["Asked", "Given", "Heard", "Looked", "Said", "Seen", "Told", "Wanted", "Whose"];

/// Nouns that end in `ed`.
const NOUNS: &[&str] = &["Embed", "Feed", "Need", "Seed", "Speed"];

/// What may have such a name, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("Accepted", "the status 202, by HTTP's own name"),
    ("Created", "the status 201, by HTTP's own name"),
    ("When", "the keyword `when` of the pipeline language"),
];

pub(super) fn check() -> Result<Outcome> {
    let mut found = Vec::new();
    for package in packages()? {
        for module in source::modules(&package)?.iter() {
            let mut names = Vec::new();
            for item in &module.items {
                if let Item::Type(item) = item {
                    names.push(item.ident.to_string());
                }
                defined(&source::tokens(item), &mut names);
            }
            names.retain(|name| is_refused(name));
            let file = shown(module.file.strip_prefix(&package.folder).unwrap_or(&module.file));
            let messages = names.iter().map(|name| {
                format!(
                    "{}/{file}: `{name}` is not a noun; name the thing (docs/style.md)",
                    package.name
                )
            });
            found.extend(messages);
        }
    }
    none(&found)
}

/// The names of types in some tokens, in macros and functions too.
fn defined(tokens: &[TokenTree], names: &mut Vec<String>) {
    for token in tokens {
        if let TokenTree::Group(group) = token {
            defined(&group.stream().into_iter().collect::<Vec<_>>(), names);
        }
    }
    for pair in tokens.windows(2) {
        if let [TokenTree::Ident(keyword), TokenTree::Ident(name)] = pair
            && ["struct", "enum", "trait", "union"].iter().any(|one| keyword == one)
        {
            names.push(name.to_string());
        }
    }
}

fn is_refused(name: &str) -> bool {
    if EXCEPTIONS.iter().any(|(exception, _)| *exception == name) {
        return false;
    }
    let start = name.rfind(|letter: char| letter.is_ascii_uppercase()).unwrap_or_default();
    let last = &name[start..];
    let is_regular = last.len() > 3 && last.ends_with("ed") && !NOUNS.contains(&last);
    let end = name.char_indices().skip(1).find(|(_, letter)| letter.is_ascii_uppercase());
    let first = end.map_or(name, |(at, _)| &name[..at]);
    FORBIDDEN.contains(&name)
        || FIRST_WORDS.contains(&first)
        || PARTICIPLES.contains(&last)
        || is_regular
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::{defined, is_refused};

    #[test]
    fn participles_and_question_words_are_refused() {
        for name in ["Asked", "Whom", "PeopleMoved", "LabelsShown", "Found", "Place", "SeenFrom"] {
            assert!(is_refused(name), "{name}");
        }
        for name in ["ListQuery", "ProtectedBranch", "OrderBy", "Feed", "Id", "When", "BridgeNeed"]
        {
            assert!(!is_refused(name), "{name}");
        }
    }

    #[test]
    fn types_are_found_in_macros_and_functions() {
        let code = quote! {
            pub struct One;
            params! { pub struct Two { name: String } }
            fn three() { enum Four { Five } }
        };
        let mut names = Vec::new();
        defined(&code.into_iter().collect::<Vec<_>>(), &mut names);
        names.sort();
        assert_eq!(names, ["Four", "One", "Two"]);
    }
}
