//! Places of line comments: the source tells the hunk, which ends with the line that the comment is about.

use review::note::position::{Position, PositionType, is_stored_position};

/// The numbers of the last line of a hunk: the old one of a line that was removed, the new one of a line that was
/// added, both of one that stays.
pub(crate) fn last_line(hunk: &str) -> Option<(Option<i64>, Option<i64>)> {
    let mut lines = hunk.lines();
    let (mut old, mut new) = start(lines.next()?)?;
    let mut last = None;
    for line in lines {
        match line.bytes().next() {
            Some(b'-') => {
                last = Some((Some(old), None));
                old += 1;
            }
            Some(b'+') => {
                last = Some((None, Some(new)));
                new += 1;
            }
            // Says that a file does not end with a newline.
            Some(b'\\') => {}
            _ => {
                last = Some((Some(old), Some(new)));
                (old, new) = (old + 1, new + 1);
            }
        }
    }
    last
}

/// Where a hunk begins: `@@ -3,7 +3,9 @@`.
fn start(header: &str) -> Option<(i64, i64)> {
    let mut sides = header
        .strip_prefix("@@ ")?
        .split(' ')
        .map(|side| side.trim_start_matches(['-', '+']).split(',').next()?.parse::<i64>().ok());
    Some((sides.next()??, sides.next()??))
}

/// A place in the latest version of a merge request, as JSON; nothing without commits or a line.
pub(crate) fn place(
    heads: (&str, &str, &str),
    paths: (&str, &str),
    (old_line, new_line): (Option<i64>, Option<i64>),
) -> Option<String> {
    let (base, start, head) = heads;
    if base.is_empty() || head.is_empty() || (old_line.is_none() && new_line.is_none()) {
        return None;
    }
    let position = Position {
        base_sha: base.to_owned(),
        start_sha: start.to_owned(),
        head_sha: head.to_owned(),
        old_path: Some(paths.0.to_owned()),
        new_path: Some(paths.1.to_owned()),
        position_type: PositionType::Text,
        old_line,
        new_line,
        line_range: None,
        width: None,
        height: None,
        x: None,
        y: None,
    };
    // The source may say of a file what it likes.
    serde_json::to_string(&position).ok().filter(|place| is_stored_position(place))
}

#[cfg(test)]
mod tests {
    use super::last_line;

    #[test]
    fn the_last_line_of_a_hunk_has_its_numbers() {
        let hunk = "@@ -3,3 +3,4 @@ fn x\n one\n-two\n+2\n+two and a half";
        assert_eq!(last_line(hunk), Some((None, Some(5))));
        assert_eq!(last_line("@@ -3,3 +3,4 @@\n one\n-two"), Some((Some(4), None)));
        assert_eq!(last_line("@@ -3 +7 @@\n one"), Some((Some(3), Some(7))));
        for odd in ["", "one", "@@ -x +y @@\n one", "@@ -1,2 +1,2 @@"] {
            assert_eq!(last_line(odd), None, "{odd}");
        }
    }
}
