//! The words of a query document.

use crate::{document::Position, error::QueryError};

/// A word, with its place and how it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// As it is written; of texts, what they mean.
    pub(crate) text: String,
    pub(crate) at: Position,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Punctuation(char),
    Ellipsis,
    Name,
    Int,
    Float,
    Text,
    Unknown,
    End,
}

impl Token {
    /// The name of the kind in messages.
    fn kind_name(&self) -> String {
        let name = match self.kind {
            TokenKind::Punctuation(sign) => match sign {
                '{' => "LCURLY",
                '}' => "RCURLY",
                '(' => "LPAREN",
                ')' => "RPAREN",
                '[' => "LBRACKET",
                ']' => "RBRACKET",
                ':' => "COLON",
                '$' => "VAR_SIGN",
                '@' => "DIR_SIGN",
                '=' => "EQUALS",
                '!' => "BANG",
                '|' => "PIPE",
                _ => "AMP",
            },
            TokenKind::Ellipsis => "ELLIPSIS",
            TokenKind::Int => "INT",
            TokenKind::Float => "FLOAT",
            TokenKind::Text => "STRING",
            TokenKind::Unknown => "UNKNOWN_CHAR",
            TokenKind::End => "EOF",
            TokenKind::Name => match self.text.as_str() {
                "query" | "mutation" | "subscription" | "fragment" | "on" | "true" | "false"
                | "null" | "type" | "schema" | "scalar" | "extend" | "interface" | "union"
                | "enum" | "input" | "directive" | "implements" => {
                    return self.text.to_uppercase();
                }
                _ => "IDENTIFIER",
            },
        };
        name.to_owned()
    }

    /// What is said of a word that stands where it must not.
    pub(crate) fn unexpected(&self) -> QueryError {
        match self.kind {
            TokenKind::End => QueryError::new("Unexpected end of document"),
            _ => {
                let (text, kind, at) = (&self.text, self.kind_name(), self.at);
                let place = format!("[{}, {}]", at.line, at.column);
                QueryError::at(format!("Parse error on \"{text}\" ({kind}) at {place}"), at)
            }
        }
    }
}

/// Reads words one after the other.
pub(crate) struct Lexer<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    at: Position,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { rest: text.chars().peekable(), at: Position { line: 1, column: 1 } }
    }

    fn step(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        let is_line_end =
            next == '\n' || (next == '\r' && self.rest.peek().is_none_or(|&next| next != '\n'));
        if is_line_end {
            self.at = Position { line: self.at.line + 1, column: 1 };
        } else {
            self.at.column += 1;
        }
        Some(next)
    }

    fn step_over(&mut self, wanted: char) -> bool {
        let found = self.rest.peek() == Some(&wanted);
        if found {
            self.step();
        }
        found
    }

    fn take_while(&mut self, text: &mut String, fits: fn(char) -> bool) {
        while let Some(next) = self.rest.peek().copied().filter(|&next| fits(next)) {
            self.step();
            text.push(next);
        }
    }

    /// The next word.
    ///
    /// # Errors
    /// For texts that do not end, or have escapes that mean nothing.
    pub(crate) fn next_token(&mut self) -> Result<Token, QueryError> {
        loop {
            match self.rest.peek() {
                Some(' ' | '\t' | '\n' | '\r' | ',' | '\u{feff}') => {
                    self.step();
                }
                Some('#') => {
                    self.take_while(&mut String::new(), |next| !matches!(next, '\n' | '\r'))
                }
                _ => break,
            }
        }
        let at = self.at;
        let Some(first) = self.step() else {
            return Ok(Token { kind: TokenKind::End, text: String::new(), at });
        };
        let mut text = String::from(first);
        let kind = match first {
            '{' | '}' | '(' | ')' | '[' | ']' | ':' | '$' | '@' | '=' | '!' | '|' | '&' => {
                TokenKind::Punctuation(first)
            }
            '.' => {
                while text.len() < 3 && self.step_over('.') {
                    text.push('.');
                }
                if text.len() == 3 { TokenKind::Ellipsis } else { TokenKind::Unknown }
            }
            '"' => {
                text = self.text(at)?;
                TokenKind::Text
            }
            '-' | '0'..='9' => self.number(&mut text),
            'a'..='z' | 'A'..='Z' | '_' => {
                self.take_while(&mut text, |next| next.is_ascii_alphanumeric() || next == '_');
                TokenKind::Name
            }
            _ => TokenKind::Unknown,
        };
        Ok(Token { kind, text, at })
    }

    fn number(&mut self, text: &mut String) -> TokenKind {
        let digit = |next: char| next.is_ascii_digit();
        self.take_while(text, digit);
        let mut kind = TokenKind::Int;
        if self.step_over('.') {
            text.push('.');
            self.take_while(text, digit);
            kind = TokenKind::Float;
        }
        if matches!(self.rest.peek(), Some('e' | 'E')) {
            text.extend(self.step());
            if matches!(self.rest.peek(), Some('+' | '-')) {
                text.extend(self.step());
            }
            self.take_while(text, digit);
            kind = TokenKind::Float;
        }
        match text.ends_with(digit) {
            true => kind,
            false => TokenKind::Unknown,
        }
    }

    fn text(&mut self, from: Position) -> Result<String, QueryError> {
        if self.step_over('"') {
            return match self.step_over('"') {
                true => self.block(from),
                false => Ok(String::new()),
            };
        }
        let mut text = String::new();
        loop {
            match self.step() {
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape(from)?),
                None | Some('\n' | '\r') => return Err(unended(from)),
                Some(other) => text.push(other),
            }
        }
    }

    fn escape(&mut self, from: Position) -> Result<char, QueryError> {
        let escaped = self.step().ok_or_else(|| unended(from))?;
        match escaped {
            '"' | '\\' | '/' => Ok(escaped),
            'b' => Ok('\u{8}'),
            'f' => Ok('\u{c}'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'u' => {
                let high = self.unit(from)?;
                if !(0xd800..0xdc00).contains(&high) {
                    return char::from_u32(high).ok_or_else(|| bad_escape(from));
                }
                // The first half of a character beyond the first plane.
                if !(self.step_over('\\') && self.step_over('u')) {
                    return Err(bad_escape(from));
                }
                let low = self.unit(from)?;
                let low = low.checked_sub(0xdc00).filter(|&low| low < 0x400);
                let code = low.map(|low| 0x10000 + ((high - 0xd800) << 10) + low);
                code.and_then(char::from_u32).ok_or_else(|| bad_escape(from))
            }
            _ => Err(bad_escape(from)),
        }
    }

    fn unit(&mut self, from: Position) -> Result<u32, QueryError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.step().and_then(|next| next.to_digit(16));
            unit = unit * 16 + digit.ok_or_else(|| bad_escape(from))?;
        }
        Ok(unit)
    }

    /// A text between three quotes, without the indentation that all its lines have.
    fn block(&mut self, from: Position) -> Result<String, QueryError> {
        let mut raw = String::new();
        loop {
            match self.step() {
                None => return Err(unended(from)),
                Some('"') if self.step_over('"') => match self.step_over('"') {
                    true => break,
                    false => raw.push_str("\"\""),
                },
                Some('\\') => {
                    let mut quotes = 0;
                    while quotes < 3 && self.step_over('"') {
                        quotes += 1;
                    }
                    raw.push_str(if quotes == 3 { "\"\"\"" } else { "\\" });
                    raw.extend(std::iter::repeat_n('"', if quotes == 3 { 0 } else { quotes }));
                }
                Some(other) => raw.push(other),
            }
        }
        Ok(without_indentation(&raw))
    }
}

fn without_indentation(raw: &str) -> String {
    let is_blank = |line: &&str| line.trim_matches([' ', '\t']).is_empty();
    let indentation = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let lines: Vec<&str> = raw.lines().collect();
    let common = lines.iter().skip(1).filter(|line| !is_blank(line)).map(|line| indentation(line));
    let common = common.min().unwrap_or(0);
    let lines: Vec<&str> = (lines.iter().enumerate())
        .map(|(number, line)| match number {
            0 => line,
            _ => line.get(common.min(indentation(line))..).unwrap_or_default(),
        })
        .collect();
    let first = lines.iter().position(|line| !is_blank(line)).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !is_blank(line)).map_or(first, |last| last + 1);
    lines.get(first..last).unwrap_or_default().join("\n")
}

fn unended(at: Position) -> QueryError {
    let place = format!("[{}, {}]", at.line, at.column);
    QueryError::at(format!("Parse error on \"\\\"\" (UNKNOWN_CHAR) at {place}"), at)
}

fn bad_escape(at: Position) -> QueryError {
    let place = format!("[{}, {}]", at.line, at.column);
    QueryError::at(format!("Parse error on bad Unicode escape sequence (error) at {place}"), at)
}
