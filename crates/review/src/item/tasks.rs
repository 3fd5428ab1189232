//! The check boxes of a description.

/// The number of tasks in a text, and of completed ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    pub count: i64,
    pub completed: i64,
}

/// Counts the check boxes of a description, line by line; those in code and comments are none.
pub fn tasks_in(text: &str) -> Tasks {
    let mut tasks = Tasks::default();
    let (mut fence, mut comment): (Option<(char, usize)>, bool) = (None, false);
    for line in text.lines() {
        if comment {
            comment = !line.contains("-->");
            continue;
        }
        if let Some((mark, length)) = fence_of(line) {
            match fence {
                None => fence = Some((mark, length)),
                Some((open, long)) if open == mark && long <= length => fence = None,
                Some(_) => {}
            }
            continue;
        }
        if fence.is_some() {
            continue;
        }
        if let Some((_, rest)) = line.split_once("<!--") {
            comment = !rest.contains("-->");
            if line.trim_start().starts_with("<!--") {
                continue;
            }
        }
        if let Some(done) = task(line) {
            tasks.count += 1;
            tasks.completed += i64::from(done);
        }
    }
    tasks
}

/// The mark of a line that begins or ends a block of code, and how often it is there.
fn fence_of(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start_matches([' ', '>']);
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.chars().take_while(|letter| *letter == mark).count();
    (length >= 3).then_some((mark, length))
}

/// Whether a line is a task, and is done.
fn task(line: &str) -> Option<bool> {
    // Four blanks begin a block of code where no list goes before them; deeper lists have as many.
    let mut rest = line.trim_start_matches(|letter: char| letter == '>' || letter.is_whitespace());
    let mut prefixes = 0;
    while let Some(after) = after_prefix(rest) {
        rest = after;
        prefixes += 1;
    }
    let inside = rest.strip_prefix('[').filter(|_| prefixes > 0)?;
    let (mark, after) = inside.split_once(']')?;
    let text = after.strip_prefix([' ', '\t'])?;
    match mark {
        _ if text.trim().is_empty() => None,
        " " => Some(false),
        "x" | "X" => Some(true),
        _ => None,
    }
}

/// What follows `- ` or `1. ` at the beginning.
fn after_prefix(text: &str) -> Option<&str> {
    let rest = match text.strip_prefix(['-', '+', '*']) {
        Some(rest) => rest,
        None => {
            let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
            rest.strip_prefix(['.', ')']).filter(|_| rest.len() < text.len())?
        }
    };
    let trimmed = rest.trim_start();
    (trimmed.len() < rest.len()).then_some(trimmed)
}

#[cfg(test)]
mod tests {
    use super::{Tasks, tasks_in};

    #[test]
    fn check_boxes_of_lists_are_counted() {
        for (text, count, completed) in [
            ("- [ ] one\n- [x] two\n- [X] three", 3, 2),
            ("1. [ ] one\n2. [x] two", 2, 1),
            ("* [ ] a\n+ [ ] b", 2, 0),
            ("> - [x] quoted", 1, 1),
            ("- - [ ] twice", 1, 0),
            ("  - [ ] inner", 1, 0),
            ("[ ] no list", 0, 0),
            ("- [ ]", 0, 0),
            ("- [x]tight", 0, 0),
            ("- [~] not any more", 0, 0),
            ("-[ ] tight", 0, 0),
            ("```\n- [ ] code\n```\n- [ ] text", 1, 0),
            ("~~~~\n~~~\n- [ ] code\n~~~~\n- [x] text", 1, 1),
            ("<!-- a\n- [ ] hidden\n-->\n- [ ] seen", 1, 0),
            ("<!-- - [ ] hidden -->\n- [ ] seen <!-- yes -->", 1, 0),
            ("", 0, 0),
        ] {
            assert_eq!(tasks_in(text), Tasks { count, completed }, "{text}");
        }
    }
}
