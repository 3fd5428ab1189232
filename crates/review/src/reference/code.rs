//! Finds the code in a text: nobody is mentioned and no quick action runs there.

use std::collections::HashMap;

/// Follows, line by line, whether a text is inside of a block of code or a comment.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// The letter and the length of the fence that is open.
    fence: Option<(u8, usize)>,
    in_comment: bool,
    in_list: bool,
    in_indented: bool,
    after_blank: bool,
}

impl Blocks {
    pub(crate) fn new() -> Self {
        Self {
            fence: None,
            in_comment: false,
            in_list: false,
            in_indented: false,
            after_blank: true,
        }
    }

    /// Whether the next line is code; the lines of fences are.
    pub(crate) fn next_is_code(&mut self, line: &str) -> bool {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let text = line.trim();
        if let Some((letter, length)) = self.fence {
            let closing = indent < 4 && run(text, letter) == text.len() && text.len() >= length;
            if closing {
                self.fence = None;
            }
            return true;
        }
        if self.in_comment {
            self.in_comment = !text.contains("-->");
            return true;
        }
        let is_code = self.begins_code(line, text, indent);
        self.after_blank = text.is_empty();
        is_code
    }

    fn begins_code(&mut self, line: &str, text: &str, indent: usize) -> bool {
        let is_deep = indent >= 4 || line.starts_with('\t');
        if text.is_empty() {
            return false;
        }
        if is_deep && !self.in_list && (self.after_blank || self.in_indented) {
            self.in_indented = true;
            return true;
        }
        self.in_indented = false;
        if let Some(fence) = opening(text).filter(|_| !is_deep || self.in_list) {
            self.fence = Some(fence);
            return true;
        }
        if text.starts_with("<!--") {
            self.in_comment = !text.contains("-->");
            return true;
        }
        if is_item(text) {
            self.in_list = true;
        } else if self.after_blank && indent == 0 && !line.starts_with('\t') {
            self.in_list = false;
        }
        false
    }
}

fn run(text: &str, letter: u8) -> usize {
    text.bytes().take_while(|byte| *byte == letter).count()
}

fn opening(text: &str) -> Option<(u8, usize)> {
    let letter = *text.as_bytes().first()?;
    let length = run(text, letter);
    let is_fence = match letter {
        b'`' => length >= 3 && !text[length..].contains('`'),
        b'~' => length >= 3,
        _ => false,
    };
    is_fence.then_some((letter, length))
}

fn is_item(text: &str) -> bool {
    let after_digits = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    text.starts_with("- ")
        || text.starts_with("* ")
        || text.starts_with("+ ")
        || (after_digits.len() < text.len()
            && (after_digits.starts_with(". ") || after_digits.starts_with(") ")))
}

/// The text with as many blanks in place of all code: what is left stands where it stood.
pub(crate) fn without_code(text: &str) -> String {
    let mut blocks = Blocks::new();
    let (mut shown, mut paragraph) = (String::with_capacity(text.len()), String::new());
    for line in text.split_inclusive('\n') {
        let is_code = blocks.next_is_code(line);
        if is_code || line.trim().is_empty() {
            push_without_spans(&paragraph, &mut shown);
            paragraph.clear();
            let end = if line.ends_with('\n') { "\n" } else { "" };
            push_blanks(line.len() - end.len(), &mut shown);
            shown.push_str(end);
        } else {
            paragraph.push_str(line);
        }
    }
    push_without_spans(&paragraph, &mut shown);
    shown
}

fn push_blanks(count: usize, shown: &mut String) {
    shown.extend(std::iter::repeat_n(' ', count));
}

/// A span of code ends at the next run of as many backticks as it began with.
fn push_without_spans(paragraph: &str, shown: &mut String) {
    let runs = backticks(paragraph);
    let (mut next_same, mut last): (Vec<Option<usize>>, HashMap<usize, usize>) =
        (vec![None; runs.len()], HashMap::new());
    for (place, (_, length)) in runs.iter().enumerate().rev() {
        next_same[place] = last.insert(*length, place);
    }
    let (mut from, mut place) = (0, 0);
    while let Some((start, length)) = runs.get(place) {
        match next_same[place] {
            Some(end) => {
                shown.push_str(&paragraph[from..*start]);
                from = runs[end].0 + length;
                push_blanks(from - start, shown);
                place = end + 1;
            }
            None => place += 1,
        }
    }
    shown.push_str(&paragraph[from..]);
}

/// Where runs of backticks begin, and how long they are.
fn backticks(text: &str) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in text.bytes().enumerate().filter(|(_, byte)| *byte == b'`') {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == at => *length += 1,
            _ => runs.push((at, 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::without_code;

    fn words(text: &str) -> Vec<String> {
        without_code(text).split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn fences_hide_what_is_between_them() {
        assert_eq!(words("a\n```rust\nb\n```\nc\n~~~~\nd\n~~~\ne\n~~~~\nf"), ["a", "c", "f"]);
        assert_eq!(words("a\n```\nnever closed"), ["a"]);
        assert_eq!(words("``` not`a fence\nb"), ["```", "not`a", "fence", "b"]);
    }

    #[test]
    fn indented_lines_are_code_unless_a_list_goes_on() {
        assert_eq!(words("a\n\n    b\n\n    c\nd\n    e"), ["a", "d", "e"]);
        assert_eq!(words("- a\n\n    b\n"), ["-", "a", "b"]);
    }

    #[test]
    fn spans_end_with_as_many_backticks() {
        assert_eq!(words("a `b` c ``d ` e`` f ` g"), ["a", "c", "f", "`", "g"]);
        assert_eq!(words("a `b\nc` d `\n\n` e"), ["a", "d", "`", "`", "e"]);
    }

    #[test]
    fn what_is_left_stands_where_it_stood() {
        let text = "é `a` x\n```\nb\n```\n\n    c\r\nd `e\nf` g";
        let shown = without_code(text);
        assert_eq!(shown.len(), text.len());
        for word in ["é", "x", "d", "g"] {
            assert_eq!(shown.find(word), text.find(word), "{word}");
        }
    }

    #[test]
    fn comments_are_not_shown() {
        assert_eq!(words("<!-- a\nb -->\nc"), ["c"]);
    }

    #[test]
    fn many_runs_take_no_longer_than_few() {
        let hostile: String = (1..1500).map(|length| "`".repeat(length) + " ").collect();
        assert!(without_code(&hostile).len() >= hostile.len() - 10);
        assert!(without_code(&"`a".repeat(200_000)).len() < 400_001);
    }
}
