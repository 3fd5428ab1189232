//! Patterns that people write into push rules. Matching takes time in proportion to the text, whatever they write.

use regex::bytes::{Regex, RegexBuilder};

use super::re2;

/// So much memory a compiled pattern may take.
const PATTERN_BYTES: usize = 1 << 20;
/// What matching remembers from one letter to the next.
const MATCHING_BYTES: usize = 8 << 20;

/// A pattern that is ready to be matched, and how it was written.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    regex: Regex,
}

impl Pattern {
    /// # Errors
    /// What is wrong with the pattern, in RE2's words.
    pub fn new(source: &str) -> Result<Self, String> {
        Self::compile(source, false)
    }

    /// As [`new`](Self::new); `^` and `$` mean the lines of the text.
    pub fn of_lines(source: &str) -> Result<Self, String> {
        Self::compile(source, true)
    }

    fn compile(source: &str, multi_line: bool) -> Result<Self, String> {
        let translated = re2::translate(source)?;
        let built = RegexBuilder::new(&translated)
            .multi_line(multi_line)
            .size_limit(PATTERN_BYTES)
            .dfa_size_limit(MATCHING_BYTES)
            .build();
        match built {
            Ok(regex) => Ok(Self { source: source.to_owned(), regex }),
            Err(error) => Err(told(&error)),
        }
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it matches somewhere.
    pub fn matches(&self, text: impl AsRef<[u8]>) -> bool {
        self.regex.is_match(text.as_ref())
    }
}

/// The last line of a complaint says what is wrong; those before it draw the place.
fn told(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => "pattern too large - compile failed".to_owned(),
        other => {
            let text = other.to_string();
            let last = text.lines().next_back().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[track_caller]
    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).unwrap().matches(text)
    }

    #[test]
    fn patterns_mean_what_they_mean_to_re2() {
        for (pattern, matching, other) in [
            (r"JIRA-\d+", "x JIRA-12", "JIRA-\u{663}"),
            (r"^\w+$", "word_1", "wörd"),
            (r"a\sb", "a b", "a\u{a0}b"),
            (r"\bfix\b", "a fix.", "prefix"),
            (r"[[:alpha:]\d]+$", "ab1", "-"),
            (r"^[^\w\s]$", "-", "a"),
            (r"^[\W]$", "-", "a"),
            (r"^[a[b]$", "[", "c"),
            (r"^[]a]$", "]", "b"),
            (r"^[a&&b]+$", "a&", "c"),
            (r"^[a-c-]+$", "b-", "d"),
            (r"^[\]-]$", "]", "a"),
            (r"^{a}{,2}b{2}$", "{a}{,2}bb", "abb"),
            (r"^a{2,}$", "aaa", "a"),
            (r"^\Qa.b*\E+$", "a.b**", "axb"),
            (r"^\101\x42\x{43}\0?$", "ABC", "abc"),
            (r"^\pN\p{Greek}\P{^L}$", "1αx", "aax"),
            (r"^\p{^Greek}$", "a", "α"),
            (r"^\C\C$", "ü", "a"),
            (r"\Aone\z", "one", "one\n"),
            (r"one$", "one", "one\n"),
            (r"(?P<n>a)(?<m>b)(?:c)(?i)D", "abcd", "abc"),
            (r"(?i:A)b", "ab", "aB"),
            (r"^\<a\>$", "<a>", "a"),
            (r"a.c", "abc", "a\nc"),
            (r"(?s)a.c", "a\nc", "ac"),
            (r"a+?b??", "a", "c"),
            (r"^#\ $", "# ", "#"),
            (r"^(|x)()$", "x", "y"),
        ] {
            assert!(matches(pattern, matching), "{pattern} matches {matching:?}");
            assert!(!matches(pattern, other), "{pattern} does not match {other:?}");
        }
    }

    #[test]
    fn lines_are_told_apart_where_that_is_meant() {
        let pattern = "^Signed-off-by: .+$";
        let message = "title\n\nSigned-off-by: me\n";
        assert!(Pattern::of_lines(pattern).unwrap().matches(message));
        assert!(!Pattern::new(pattern).unwrap().matches(message));
    }

    #[test]
    fn what_cannot_be_said_is_refused_in_the_words_of_re2() {
        for (pattern, told) in [
            ("(", "missing ): ("),
            ("a)", "unexpected ): a)"),
            ("[a", "missing ]: [a"),
            ("[", "missing ]: ["),
            ("[]", "missing ]: []"),
            ("[b-a]", "invalid character class range: b-a"),
            ("[[:foo:]]", "invalid character class range: [:foo:]"),
            ("*a", "no argument for repetition operator: *"),
            ("(?i)*", "no argument for repetition operator: *"),
            ("a|{2}", "no argument for repetition operator: {2}"),
            ("a**", "bad repetition operator: **"),
            ("a++", "bad repetition operator: ++"),
            ("a??+", "bad repetition operator: ??+"),
            ("a{2}{3}", "bad repetition operator: {2}{3}"),
            ("a{1001}", "invalid repetition size: {1001}"),
            ("a{3,2}", "invalid repetition size: {3,2}"),
            ("\\", "trailing \\"),
            (r"\1", r"invalid escape sequence: \1"),
            (r"(a)\1", r"invalid escape sequence: \1"),
            (r"\8", r"invalid escape sequence: \8"),
            (r"\Z", r"invalid escape sequence: \Z"),
            (r"[\b]", r"invalid escape sequence: \b"),
            (r"\xZZ", r"invalid escape sequence: \xZZ"),
            (r"(?=a)", "invalid perl operator: (?="),
            (r"(?!a)", "invalid perl operator: (?!"),
            (r"(?<=a)b", "invalid perl operator: (?<="),
            (r"(?<!a)b", "invalid perl operator: (?<!"),
            (r"(?>a)", "invalid perl operator: (?>"),
            (r"(?x)a", "invalid perl operator: (?x"),
            (r"(?", "invalid perl operator: (?"),
            (r"(?P<a", "invalid named capture group: (?P<a"),
            (r"(?P<a-b>c)", "invalid named capture group: (?P<a-b>"),
            (r"\p{Nothing}", "Unicode property not found"),
            (r"(\p{L}{1000}){1000}", "pattern too large - compile failed"),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap_err(), told, "{pattern}");
        }
    }

    #[test]
    fn no_pattern_and_no_text_takes_more_than_linear_time() {
        // Any of these would keep a backtracking engine busy until the end of the world.
        let text = "a".repeat(1 << 20);
        for pattern in ["(a*)*$b", "(a|a)*b", "(a|aa)+$c", "(.*)(.*)(.*)(.*)x", "(a?){500}a{500}b"]
        {
            assert!(!matches(pattern, &text), "{pattern}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_do_not_matter() {
        assert!(Pattern::new(r"\.key$").unwrap().matches(b"\xff\xfe.key"));
    }
}
