//! Conditions of rules: `$CI_COMMIT_BRANCH == "main" && $DEPLOY =~ /^(yes|on)$/i`.
//!
//! `lexer.rs` makes tokens of the text, `parser.rs` a tree of them, `evaluate.rs` asks the tree, and `pattern.rs` turns
//! the dialect of the patterns into that of the library which matches them in linear time.

mod evaluate;
mod lexer;
mod parser;
pub(crate) mod pattern;

use pattern::Patterns;

/// A condition that can be asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression {
    root: parser::Tree,
}

impl Expression {
    /// `None` for what is no condition.
    pub(crate) fn parse(text: &str, patterns: &mut Patterns) -> Option<Self> {
        let tokens = lexer::tokens(text)?;
        let valid = tokens.iter().all(|token| match token {
            lexer::Token::Pattern(literal) => patterns.is_valid(literal),
            _ => true,
        });
        let root = if valid { parser::tree(tokens)? } else { return None };
        Some(Self { root })
    }

    /// Whether it holds, given what each variable is.
    pub(crate) fn is_true<'v>(
        &self,
        variable: &dyn Fn(&str) -> Option<&'v str>,
        patterns: &mut Patterns,
    ) -> bool {
        evaluate::Evaluation { variable, patterns }.is_true(&self.root)
    }
}

#[cfg(test)]
mod tests {
    use super::{Expression, pattern::Patterns};

    fn asked(text: &str) -> Option<bool> {
        let mut patterns = Patterns::default();
        let variable = |name: &str| match name {
            "BRANCH" => Some("main"),
            "EMPTY" => Some(""),
            "FALSE" => Some("false"),
            "PATTERN" => Some("/^ma/"),
            "SHORT" => Some("/m/"),
            "PLAIN" => Some("main"),
            "PATH" => Some("feature/one"),
            _ => None,
        };
        let expression = Expression::parse(text, &mut patterns)?;
        Some(expression.is_true(&variable, &mut patterns))
    }

    #[test]
    fn conditions_hold_or_not() {
        for (text, expected) in [
            ("$BRANCH", true),
            ("$EMPTY", false),
            ("$MISSING", false),
            ("$FALSE", true),
            ("$MISSING == null", true),
            ("$EMPTY == null", false),
            ("$EMPTY == \"\"", true),
            ("$MISSING == \"\"", false),
            ("$BRANCH == 'main'", true),
            ("$BRANCH != \"main\"", false),
            ("\"main\" == $BRANCH", true),
            ("$BRANCH==\"main\"&&$PATH", true),
            ("$BRANCH || $MISSING && $MISSING", true),
            ("($BRANCH || $MISSING) && $MISSING", false),
            ("$BRANCH =~ /^MAIN$/i", true),
            ("$BRANCH =~ /ain/", true),
            ("$BRANCH !~ /^ain/", true),
            ("$PATH =~ /^feature\\/.+$/", true),
            ("$BRANCH =~ $PATTERN", true),
            ("$BRANCH =~ $SHORT", true),
            ("$BRANCH =~ $PLAIN", false),
            ("$BRANCH !~ $PLAIN", true),
            ("$BRANCH =~ $MISSING", false),
            ("$BRANCH !~ $MISSING", true),
            ("$MISSING =~ /^.*$/", true),
            ("$MISSING !~ /xyz/", true),
            ("$BRANCH =~ /ma/ && $PATH =~ /one/", true),
            ("null", false),
            ("\"x\"", true),
            ("true", true),
            ("false || $MISSING", false),
            ("(($BRANCH))", true),
        ] {
            assert_eq!(asked(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for text in [
            "",
            "$BRANCH ==",
            "== $BRANCH",
            "($BRANCH))",
            "(($BRANCH)",
            "()",
            "main == $BRANCH",
            "${BRANCH} == \"main\"",
            "$BRANCH === \"main\"",
            "$BRANCH =~ /m/",
            "$BRANCH =~ /(/",
            "$BRANCH =~ /^(?!x)/",
            "$BRANCH =~ /(a)\\1/",
            "$BRANCH == \"a\\\"b\"",
            "$BRANCH $PATH",
            "$BRANCH && && $PATH",
            "$BRANCH == \"main",
            "$BRANCH & $PATH",
            "$BRANCH == $PATH == $EMPTY",
            "$",
        ] {
            assert_eq!(asked(text), None, "{text}");
        }
    }

    #[test]
    fn a_condition_has_at_most_a_hundred_tokens() {
        let chain = |count: usize| vec!["$BRANCH"; count].join(" || ");

        assert_eq!(asked(&chain(50)), Some(true));
        assert_eq!(asked(&chain(51)), None);
    }
}
