//! A file from its beginning to its end: suites are gone down into, cases are kept, everything else is passed over.

use std::io::BufRead;

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesRef, BytesStart, Event},
};
use serde_json::Value;

use super::{
    Case, Limits,
    element::Element,
    source::{Position, Source},
};

/// A case, and the name of the suite next above it.
pub(super) struct CaseInSuite {
    pub(super) suite: Option<String>,
    pub(super) case: Case,
}

/// The cases of a file in their order, or what is wrong with it.
/// `left` is how many bytes may still be read.
pub(super) fn cases(
    file: impl BufRead,
    limits: &Limits,
    left: &mut u64,
) -> Result<Vec<CaseInSuite>, String> {
    let mut reader = Reader::from_reader(Source::new(file, left));
    let config = reader.config_mut();
    config.expand_empty_elements = true;
    // Both are told in other words here.
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    let mut walk = Walk {
        limits,
        open: Vec::new(),
        cases: Vec::new(),
        began: None,
        wrote: false,
        parts: 0,
        fault: None,
        banned: None,
    };
    let mut buffer = Vec::new();
    loop {
        let before = reader.get_ref().position();
        let event = match reader.read_event_into(&mut buffer) {
            Ok(event) => event,
            Err(error) => return Err(broken(&error, reader.get_ref(), limits)),
        };
        let place = EventSpan { before, after: reader.get_ref().position() };
        if matches!(event, Event::Eof) {
            walk.end_of_file(place)?;
            break;
        }
        walk.event(&event, place)?;
        buffer.clear();
    }
    match walk.banned.or(walk.fault) {
        Some(fault) => Err(format!("JUnit data parsing failed: {fault}")),
        None => Ok(walk.cases),
    }
}

pub(super) fn too_many(limits: &Limits) -> String {
    let most = limits.cases;
    format!("JUnit data parsing failed: number of test cases exceeded the limit of {most}")
}

fn too_large(problem: &str) -> String {
    format!("JUnit data parsing failed: {problem}")
}

fn broken<R: BufRead>(error: &quick_xml::Error, source: &Source<'_, R>, limits: &Limits) -> String {
    match error {
        quick_xml::Error::Io(_) if source.is_spent() => {
            let most = limits.bytes;
            format!("JUnit data parsing failed: the file is larger than {most} bytes")
        }
        quick_xml::Error::Io(error) => format!("JUnit data parsing failed: {error}"),
        error => fatal(source.position(), &error.to_string()),
    }
}

fn fatal(at: Position, problem: &str) -> String {
    format!("JUnit XML parsing failed: {}:{}: FATAL: {problem}", at.line, at.column)
}

/// The byte range of an event.
#[derive(Clone, Copy)]
struct EventSpan {
    before: Position,
    after: Position,
}

/// The role of an element in the report.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Holds suites and cases.
    Suite,
    Case,
    /// Lies within a case.
    Part,
    Other,
}

impl Role {
    fn of(parent: Option<Self>, name: &str) -> Self {
        match (parent, name) {
            // Only the outermost may be of many suites, and a case lies in a suite.
            (None, "testsuites") | (None | Some(Self::Suite), "testsuite") => Self::Suite,
            (Some(Self::Suite), "testcase") => Self::Case,
            (Some(Self::Case | Self::Part), _) => Self::Part,
            _ => Self::Other,
        }
    }
}

struct Open {
    name: String,
    line: u64,
    role: Role,
    element: Element,
    /// How many cases there were when it began.
    first: usize,
}

struct Walk<'l> {
    limits: &'l Limits,
    open: Vec<Open>,
    cases: Vec<CaseInSuite>,
    /// The line in which the outermost element began.
    began: Option<u64>,
    /// Whether there was anything beside blanks.
    wrote: bool,
    /// Elements in the case that is open.
    parts: usize,
    /// What is wrong with a case. The file may still turn out to be no XML, which is told first.
    fault: Option<String>,
    /// A type that must not be read.
    banned: Option<String>,
}

impl Walk<'_> {
    fn event(&mut self, event: &Event<'_>, place: EventSpan) -> Result<(), String> {
        match event {
            Event::Start(start) => self.start(start, place),
            Event::End(end) => self.end(end.name().as_ref(), place),
            Event::Text(text) => self.text(&text.xml10_content(), place),
            Event::CData(text) => self.text(&text.xml10_content(), place),
            Event::GeneralRef(reference) => self.reference(reference, place),
            Event::DocType(text) if text.contains("<!ENTITY") => {
                Err(fatal(place.after, "Entity declarations are not allowed"))
            }
            _ => {
                self.wrote = true;
                Ok(())
            }
        }
    }

    fn start(&mut self, start: &BytesStart<'_>, place: EventSpan) -> Result<(), String> {
        if self.open.is_empty() && self.began.is_some() {
            return Err(fatal(place.before, "Extra content at the end of the document"));
        }
        if self.open.len() >= self.limits.depth {
            let most = self.limits.depth;
            return Err(fatal(
                place.after,
                &format!("Excessive depth in document: {most} use XML_PARSE_HUGE option"),
            ));
        }
        let name = start.name().as_ref().to_owned();
        let mut element = Element::default();
        for (number, attribute) in start.attributes().enumerate() {
            if number == self.limits.attributes {
                return Err(too_large(&format!("an element has more than {number} attributes")));
            }
            let attribute = attribute.map_err(|error| fatal(place.after, &error.to_string()))?;
            let value = attribute
                .normalized_value(XmlVersion::Explicit1_0)
                .map_err(|error| fatal(place.after, &error.to_string()))?;
            ensure_characters(&value, place)?;
            let value = self.cut(&value, 0).to_owned();
            element.add_attribute(attribute.key.as_ref(), value);
        }
        self.note_banned(&element);
        self.began.get_or_insert(place.before.line);
        let role = Role::of(self.open.last().map(|open| open.role), &name);
        self.count_part(role)?;
        let (line, first) = (place.after.line, self.cases.len());
        self.open.push(Open { name, line, role, element, first });
        Ok(())
    }

    /// As much of a text as is kept behind so many bytes.
    fn cut<'t>(&self, text: &'t str, before: usize) -> &'t str {
        let left = self.limits.text.saturating_sub(before);
        &text[..text.floor_char_boundary(left)]
    }

    fn count_part(&mut self, role: Role) -> Result<(), String> {
        self.parts = match role {
            Role::Part => self.parts + 1,
            Role::Case => 0,
            Role::Suite | Role::Other => self.parts,
        };
        let most = self.limits.parts;
        match self.parts > most {
            true => Err(too_large(&format!("a test case holds more than {most} elements"))),
            false => Ok(()),
        }
    }

    fn note_banned(&mut self, element: &Element) {
        if let Some(kind @ ("yaml" | "symbol")) = element.attribute("type") {
            self.banned.get_or_insert_with(|| format!("Disallowed type attribute: {kind:?}"));
        }
    }

    fn text(&mut self, text: &str, place: EventSpan) -> Result<(), String> {
        ensure_characters(text, place)?;
        let before = self.open.last().map(|open| open.element.text_length());
        let kept = self.cut(text, before.unwrap_or_default());
        if let Some(open) = self.open.last_mut() {
            if open.role != Role::Other {
                open.element.add_text(kept);
            }
            return Ok(());
        }
        let blanks = text.len() - text.trim_start().len();
        if blanks == text.len() {
            return Ok(());
        }
        let problem = match self.began {
            None => "Start tag expected, '<' not found",
            Some(_) => "Extra content at the end of the document",
        };
        Err(fatal(place.before.behind(&text[..blanks]), problem))
    }

    fn reference(&mut self, reference: &BytesRef<'_>, place: EventSpan) -> Result<(), String> {
        let name: &str = reference;
        if reference.is_char_ref() {
            let sign =
                reference.resolve_char_ref().ok().flatten().filter(|sign| is_character(*sign));
            let Some(sign) = sign else {
                let number = name.trim_start_matches(['#', 'x']);
                let problem = format!("xmlParseCharRef: invalid xmlChar value {number}");
                return Err(fatal(place.after, &problem));
            };
            return self.text(sign.encode_utf8(&mut [0; 4]), place);
        }
        match quick_xml::escape::resolve_predefined_entity(name) {
            Some(text) => self.text(text, place),
            None => Err(fatal(place.after, &format!("Entity '{name}' not defined"))),
        }
    }

    fn end(&mut self, name: &str, place: EventSpan) -> Result<(), String> {
        let Some(open) = self.open.pop() else {
            return Err(fatal(place.before, "Extra content at the end of the document"));
        };
        if open.name != name {
            let (opening, line) = (&open.name, open.line);
            let problem =
                format!("Opening and ending tag mismatch: {opening} line {line} and {name}");
            return Err(fatal(place.after, &problem));
        }
        match open.role {
            Role::Other => {}
            // Text hides what stands beside it.
            Role::Suite if open.element.is_text() => self.cases.truncate(open.first),
            Role::Suite => {}
            Role::Case => self.case(open.element)?,
            Role::Part => {
                if let Some(parent) = self.open.last_mut() {
                    parent.element.add_child(&open.name, open.element.value());
                }
            }
        }
        Ok(())
    }

    fn case(&mut self, element: Element) -> Result<(), String> {
        let fields = match element.value() {
            Value::Object(fields) => fields,
            Value::Null => return Ok(()),
            _ => {
                self.fault.get_or_insert_with(|| "string not matched".to_owned());
                return Ok(());
            }
        };
        if self.cases.len() >= self.limits.cases {
            return Err(too_many(self.limits));
        }
        let suite = self.open.last().and_then(|open| open.element.attribute("name"));
        let suite = suite.map(str::to_owned);
        self.cases.push(CaseInSuite { suite, case: Case::of(&fields) });
        Ok(())
    }

    fn end_of_file(&self, place: EventSpan) -> Result<(), String> {
        if let Some(open) = self.open.last() {
            let (name, line) = (&open.name, open.line);
            let problem = format!("Premature end of data in tag {name} line {line}");
            return Err(fatal(place.after, &problem));
        }
        // A file of blanks is a report without tests.
        if self.began.is_none() && self.wrote {
            return Err(fatal(place.after, "Start tag expected, '<' not found"));
        }
        Ok(())
    }
}

/// Signs that XML knows; others would not even be stored everywhere.
fn is_character(sign: char) -> bool {
    matches!(sign, '\t' | '\n' | '\r') || (sign >= ' ' && !matches!(sign, '\u{fffe}' | '\u{ffff}'))
}

fn ensure_characters(text: &str, place: EventSpan) -> Result<(), String> {
    match text.chars().find(|sign| !is_character(*sign)) {
        None => Ok(()),
        Some(sign) => {
            let problem = format!("PCDATA invalid Char value {}", u32::from(sign));
            Err(fatal(place.after, &problem))
        }
    }
}
