//! Tokens of a condition.

use std::sync::LazyLock;

use regex::Regex;

const MOST_TOKENS: usize = 100;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Open,
    Close,
    Variable(String),
    Text(String),
    /// A pattern with its slashes and flags.
    Pattern(String),
    Null,
    Bool(bool),
    Comparison(Comparison),
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Match,
    Mismatch,
}

/// At least two signs between slashes; a slash among them is escaped.
static PATTERN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\A/(?:[^/]|\\/)+[^\\]/[ismU]*").ok());

/// Tokens in their order; `None` when there is something else, or too much.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let (mut rest, mut tokens) = (text.trim_start(), Vec::new());
    while !rest.is_empty() {
        let (token, length) = token(rest)?;
        tokens.push(token);
        if tokens.len() > MOST_TOKENS {
            return None;
        }
        rest = rest.get(length..)?.trim_start();
    }
    Some(tokens)
}

fn token(rest: &str) -> Option<(Token, usize)> {
    const SIGNS: [(&str, Token); 8] = [
        ("(", Token::Open),
        (")", Token::Close),
        ("==", Token::Comparison(Comparison::Equal)),
        ("=~", Token::Comparison(Comparison::Match)),
        ("!=", Token::Comparison(Comparison::Unequal)),
        ("!~", Token::Comparison(Comparison::Mismatch)),
        ("&&", Token::And),
        ("||", Token::Or),
    ];
    if let Some((sign, token)) = SIGNS.into_iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Some((token, sign.len()));
    }
    match rest.as_bytes().first()? {
        b'$' => variable(rest),
        quote @ (b'"' | b'\'') => quoted(rest, char::from(*quote)),
        b'/' => {
            let found = PATTERN.as_ref()?.find(rest)?;
            Some((Token::Pattern(found.as_str().to_owned()), found.end()))
        }
        _ => word(rest),
    }
}

fn is_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

fn variable(rest: &str) -> Option<(Token, usize)> {
    let name = &rest[1..];
    let end = name.find(|sign| !is_name(sign)).unwrap_or(name.len());
    (end > 0).then(|| (Token::Variable(name[..end].to_owned()), end + 1))
}

fn quoted(rest: &str, quote: char) -> Option<(Token, usize)> {
    let end = rest[1..].find([quote, '\n'])?;
    let text = &rest[1..=end];
    rest[1 + end..].starts_with(quote).then(|| (Token::Text(text.to_owned()), end + 2))
}

fn word(rest: &str) -> Option<(Token, usize)> {
    let end = rest.find(|sign| !is_name(sign)).unwrap_or(rest.len());
    let token = match &rest[..end] {
        "null" => Token::Null,
        "true" => Token::Bool(true),
        "false" => Token::Bool(false),
        _ => return None,
    };
    Some((token, end))
}
