//! Two texts as git prints their difference: hunks with three lines of context and the function they are in.

use std::ops::Range;

use bstr::BString;
use gix::diff::blob::{Algorithm, Diff, Hunk, InternedInput, diff_with_slider_heuristics};

use crate::git::LineStats;

const CONTEXT: u32 = 3;
/// Git shows no more of the function line than this.
const FUNCTION_BYTES: usize = 80;
const NO_NEWLINE: &[u8] = b"\n\\ No newline at end of file\n";

/// Lines added and removed.
pub(super) fn count(before: &[u8], after: &[u8]) -> LineStats {
    if before.is_empty() || after.is_empty() {
        return LineStats { additions: lines(after), deletions: lines(before) };
    }
    let input = InternedInput::new(before, after);
    let diff = Diff::compute(Algorithm::Myers, &input);
    LineStats { additions: diff.count_additions().into(), deletions: diff.count_removals().into() }
}

fn lines(text: &[u8]) -> u64 {
    let unfinished = text.last().is_some_and(|byte| *byte != b'\n');
    text.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>() + u64::from(unfinished)
}

/// All hunks, from the first `@@` on.
pub(super) fn unified(before: &[u8], after: &[u8]) -> (BString, LineStats) {
    let input = InternedInput::new(before, after);
    let diff = diff_with_slider_heuristics(Algorithm::Myers, &input);
    let stats = LineStats {
        additions: diff.count_additions().into(),
        deletions: diff.count_removals().into(),
    };
    let hunks: Vec<Hunk> = diff.hunks().collect();
    let mut printer =
        Printer { input: &input, text: Vec::new(), function: Vec::new(), searched: 0 };
    let is_near = |one: &Hunk, next: &Hunk| next.before.start - one.before.end <= 2 * CONTEXT;
    for group in hunks.chunk_by(is_near) {
        printer.group(group);
    }
    (printer.text.into(), stats)
}

struct Printer<'a> {
    input: &'a InternedInput<&'a [u8]>,
    text: Vec<u8>,
    /// The function line found last; it stays valid until a nearer one is found.
    function: Vec<u8>,
    /// Old lines before this one were already searched for a function.
    searched: u32,
}

impl Printer<'_> {
    /// Changes that share their context.
    fn group(&mut self, changes: &[Hunk]) {
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else { return };
        let lead = first.before.start.min(first.after.start).min(CONTEXT);
        let rest = length(&self.input.before).saturating_sub(last.before.end);
        let trail = rest.min(length(&self.input.after).saturating_sub(last.after.end)).min(CONTEXT);
        let old = first.before.start - lead..last.before.end + trail;
        let new = first.after.start - lead..last.after.end + trail;
        self.header(old.clone(), new.clone());
        let mut context = new.start;
        for change in changes {
            self.after(b' ', context..change.after.start);
            self.before(b'-', change.before.clone());
            self.after(b'+', change.after.clone());
            context = change.after.end;
        }
        self.after(b' ', context..new.end);
    }

    fn header(&mut self, old: Range<u32>, new: Range<u32>) {
        self.find_function(old.start);
        self.text.extend_from_slice(format!("@@ -{} +{} @@", span(&old), span(&new)).as_bytes());
        if !self.function.is_empty() {
            self.text.push(b' ');
            self.text.extend_from_slice(&self.function);
        }
        self.text.push(b'\n');
    }

    /// Looks above the hunk for the nearest line that begins like a name.
    fn find_function(&mut self, start: u32) {
        for line in (self.searched..start).rev() {
            let line = line_of(&self.input.before, line, self.input);
            if line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"_$".contains(byte)) {
                self.function = shown(line).to_vec();
                break;
            }
        }
        self.searched = start.max(self.searched);
    }

    fn before(&mut self, mark: u8, lines: Range<u32>) {
        for line in lines {
            push(&mut self.text, mark, line_of(&self.input.before, line, self.input));
        }
    }

    fn after(&mut self, mark: u8, lines: Range<u32>) {
        for line in lines {
            push(&mut self.text, mark, line_of(&self.input.after, line, self.input));
        }
    }
}

/// The part of a function line that git shows; it ends before the first byte that is not UTF-8.
fn shown(line: &[u8]) -> &[u8] {
    let line = line[..line.len().min(FUNCTION_BYTES)].trim_ascii_end();
    let valid = std::str::from_utf8(line).map_or_else(|error| error.valid_up_to(), str::len);
    &line[..valid]
}

fn push(text: &mut Vec<u8>, mark: u8, line: &[u8]) {
    text.push(mark);
    text.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        text.extend_from_slice(NO_NEWLINE);
    }
}

fn line_of<'a>(
    tokens: &[gix::diff::blob::Token],
    line: u32,
    input: &InternedInput<&'a [u8]>,
) -> &'a [u8] {
    let token = usize::try_from(line).ok().and_then(|line| tokens.get(line));
    token.map_or(&[], |token| input.interner[*token])
}

fn length(tokens: &[gix::diff::blob::Token]) -> u32 {
    u32::try_from(tokens.len()).unwrap_or(u32::MAX)
}

/// `start,count` as git writes it: counted from one, a count of one left out, an empty span at the line before it.
fn span(lines: &Range<u32>) -> String {
    match lines.end - lines.start {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::{count, unified};

    #[track_caller]
    fn check(before: &str, after: &str, expected: &str) {
        let (text, stats) = unified(before.as_bytes(), after.as_bytes());
        assert_eq!(text, expected);
        assert_eq!(count(before.as_bytes(), after.as_bytes()), stats);
    }

    #[test]
    fn hunks_look_as_git_prints_them() {
        check("a\n", "b\n", "@@ -1 +1 @@\n-a\n+b\n");
        check("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n");
        check("a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n");
        check("a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
        check("same\n", "same\n", "");
    }

    #[test]
    fn a_hunk_names_the_function_above_it() {
        let body = " 1\n 2\n 3\n 4\n";
        check(
            &format!("fn one() {{\n{body} x\n"),
            &format!("fn one() {{\n{body} y\n"),
            "@@ -3,4 +3,4 @@ fn one() {\n  2\n  3\n  4\n- x\n+ y\n",
        );
        let long = format!("f{}", "ü".repeat(60));
        check(
            &format!("{long}\n{body} x\n"),
            &format!("{long}\n{body} y\n"),
            &format!("@@ -3,4 +3,4 @@ f{}\n  2\n  3\n  4\n- x\n+ y\n", "ü".repeat(39)),
        );
    }
}
