//! Drafts: merge requests whose title says that they are not to be merged yet.

const MARKS: [&str; 3] = ["draft:", "[draft]", "(draft)"];

/// Whether a title says so.
pub fn is_draft(title: &str) -> bool {
    after_mark(title).is_some()
}

/// The title without its marks.
pub fn ready(title: &str) -> &str {
    let mut rest = title;
    while let Some(after) = after_mark(rest) {
        rest = after.trim_start();
    }
    rest
}

/// The title with a mark.
pub fn drafted(title: &str) -> String {
    if is_draft(title) { title.to_owned() } else { format!("Draft: {title}") }
}

fn after_mark(title: &str) -> Option<&str> {
    MARKS.iter().find_map(|mark| {
        let (start, rest) = title.split_at_checked(mark.len())?;
        start.eq_ignore_ascii_case(mark).then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::{drafted, is_draft, ready};

    #[test]
    fn three_marks_make_a_draft() {
        for (title, draft, rest) in [
            ("Draft: Add it", true, "Add it"),
            ("draft:Add it", true, "Add it"),
            ("[DRAFT] Add it", true, "Add it"),
            ("(Draft) Draft: Add it", true, "Add it"),
            ("WIP: Add it", false, "WIP: Add it"),
            ("Draft Add it", false, "Draft Add it"),
            ("Add a Draft: it", false, "Add a Draft: it"),
            ("ärger", false, "ärger"),
        ] {
            assert_eq!((is_draft(title), ready(title)), (draft, rest), "{title}");
        }
        assert_eq!(drafted("Add it"), "Draft: Add it");
        assert_eq!(drafted("[draft] Add it"), "[draft] Add it");
    }
}
