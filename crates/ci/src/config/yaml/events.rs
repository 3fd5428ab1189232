//! Events of the YAML library, kept away from the few inputs that it cannot take.
//!
//! It is a port of the parser that configurations have always been read with, and says its sentences. Two inputs end it
//! with a panic instead of an event: a block scalar that ends with the text, and a tag before a comma in a flow
//! collection. So every text ends with a line, and such a tag is parted from its comma by blanks that are taken out again.

use std::{
    borrow::Cow,
    io::{BufReader, Cursor},
};

use libyaml_safer::{Error, ErrorKind, Event, EventData, Parser, ScalarStyle};

use super::Fault;

/// Bytes that the library takes at once. It keeps four bytes for each character, and would else take all of the text.
const BLOCK: usize = 4 << 10;

pub(super) struct Events<'t> {
    parser: Parser<BufReader<Cursor<Cow<'t, [u8]>>>>,
    /// The blanks put in, when there are any.
    gap: Option<String>,
    /// Where the text ends, if a line feed was added to it.
    added_at: Option<u64>,
}

impl<'t> Events<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let commas = if text.contains('!') { commas_after_tags(text) } else { Vec::new() };
        let gap = (!commas.is_empty()).then(|| unused_gap(text));
        let mut text = match &gap {
            Some(gap) => Cow::Owned(part_tags(text, &commas, gap)),
            None => Cow::Borrowed(text),
        };
        let added_at = (!text.ends_with('\n')).then_some(text.len());
        if added_at.is_some() {
            text.to_mut().push('\n');
        }
        let bytes = match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        };
        let mut parser = Parser::new();
        parser.set_encoding(libyaml_safer::Encoding::Utf8);
        parser.set_input(BufReader::with_capacity(BLOCK, Cursor::new(bytes)));
        Self { parser, gap, added_at: added_at.and_then(|end| u64::try_from(end).ok()) }
    }

    pub(super) fn next(&mut self) -> Result<EventData, Fault> {
        let mut event = self.parser.parse().map_err(|error| Fault::Syntax(sentence(&error)))?;
        self.mend(&mut event);
        match &event.data {
            // It can be written with an escape alone, and no column and no environment can hold it.
            EventData::Scalar { value, style: ScalarStyle::DoubleQuoted, .. }
                if value.contains('\0') =>
            {
                Err(Fault::Syntax("string contains null byte".to_owned()))
            }
            _ => Ok(event.data),
        }
    }

    /// Takes out of a scalar what was put into the text.
    fn mend(&self, event: &mut Event) {
        let EventData::Scalar { value, style, .. } = &mut event.data else { return };
        if let Some(gap) = &self.gap {
            *value = value.replace(gap.as_str(), "");
        }
        let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let last = self.added_at.is_some_and(|end| event.end_mark.index > end);
        if block && last && value.ends_with('\n') {
            value.pop();
        }
    }
}

/// The library's words as they were always put together.
fn sentence(error: &Error) -> String {
    let context = error.context().map(|text| format!(" {text}")).unwrap_or_default();
    // What the reader refuses has no place in the text.
    let mark = match error.kind() {
        ErrorKind::Reader | ErrorKind::Io => None,
        _ => error.context_mark().or_else(|| error.problem_mark()),
    };
    let (line, column) = mark.map_or((0, 0), |mark| (mark.line, mark.column));
    format!("{}{context} at line {} column {}", error.problem(), line + 1, column + 1)
}

/// The commas that end what looks like a tag.
fn commas_after_tags(text: &str) -> Vec<usize> {
    let (mut commas, mut start) = (Vec::new(), 0);
    for (at, sign) in text.char_indices() {
        if sign != ',' && !sign.is_whitespace() {
            continue;
        }
        let tag = text[start..at].find('!').map(|bang| &text[start + bang..at]);
        if sign == ',' && tag.is_some_and(|tag| !tag.starts_with("!<")) {
            commas.push(at);
        }
        start = at + sign.len_utf8();
    }
    commas
}

/// Blanks that the text does not hold in this order.
fn unused_gap(text: &str) -> String {
    let mut gap = " \t ".to_owned();
    while text.contains(gap.as_str()) {
        gap.push_str("\t ");
    }
    gap
}

fn part_tags(text: &str, commas: &[usize], gap: &str) -> String {
    let (mut parted, mut from) = (String::with_capacity(text.len() + commas.len() * 4), 0);
    for comma in commas {
        parted.push_str(&text[from..*comma]);
        parted.push_str(gap);
        from = *comma;
    }
    parted.push_str(&text[from..]);
    parted
}

#[cfg(test)]
mod tests {
    use libyaml_safer::EventData;

    use super::Events;

    fn scalars(text: &str) -> Result<Vec<String>, String> {
        let (mut events, mut values) = (Events::of(text), Vec::new());
        loop {
            match events.next().map_err(|fault| fault.to_string())? {
                EventData::Scalar { value, .. } => values.push(value),
                EventData::StreamEnd => return Ok(values),
                _ => {}
            }
        }
    }

    #[test]
    fn a_block_scalar_may_end_with_the_text() {
        assert_eq!(scalars("a: |\n  x").unwrap(), ["a", "x"]);
        assert_eq!(scalars("a: |\n  x\n").unwrap(), ["a", "x\n"]);
        assert_eq!(scalars("a: |-\n  x").unwrap(), ["a", "x"]);
        assert!(scalars("a: \"\\").is_err());
    }

    #[test]
    fn no_text_holds_a_null_byte() {
        let told = scalars("a: \"x\\0y\"").unwrap_err();
        assert_eq!(told, "(<unknown>): string contains null byte");
    }

    #[test]
    fn a_tag_may_stand_before_a_comma() {
        assert_eq!(scalars("[!a, b]").unwrap(), ["", "b"]);
        assert_eq!(
            scalars("[!a,c, 'hi!, you', x!y,z]").unwrap(),
            ["", "c", "hi!, you", "x!y", "z"]
        );
        assert_eq!(scalars("- echo hi!, you").unwrap(), ["echo hi!, you"]);
        assert_eq!(scalars("a: |\n  hi!,\n  \t you\n").unwrap(), ["a", "hi!,\n\t you\n"]);
    }

    #[test]
    fn a_broken_text_is_told_in_the_parsers_words_with_its_place() {
        for (text, told) in [
            ("a: b: c", "mapping values are not allowed in this context at line 1 column 5"),
            (
                "a:\n\tb: c",
                "found character that cannot start any token while scanning for the next token at line 2 column 1",
            ),
            (
                "a: 'b\n",
                "found unexpected end of stream while scanning a quoted scalar at line 1 column 4",
            ),
            ("a: b\n c: d\n", "mapping values are not allowed in this context at line 2 column 3"),
            (
                "a: [b\nc: d\n",
                "did not find expected ',' or ']' while parsing a flow sequence at line 1 column 4",
            ),
            (
                "a: 'b'\n- c\n",
                "did not find expected key while parsing a block mapping at line 1 column 1",
            ),
        ] {
            assert_eq!(scalars(text), Err(format!("(<unknown>): {told}")), "{text:?}");
        }
    }
}
