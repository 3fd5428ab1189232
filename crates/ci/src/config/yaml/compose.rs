//! Values from events: anchors, merge keys, tags, and an end to what is too deep or too large.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use libyaml_safer::{EventData, ScalarStyle};

use super::{Fault, events::Events, scalar};
use crate::config::{
    input::Limits,
    node::{Entries, Key, Node, Reference},
};

const TEXT_TAG: &str = "tag:yaml.org,2002:str";

/// Bytes of the longest text that is looked for among those seen before.
const LONGEST_SHARED: usize = 16;

/// The first document of a text, or the second where the first is a header; `None` when there is none.
pub(crate) fn parse_within(limits: &Limits, text: &str) -> Result<Option<Node>, Fault> {
    let mut composer = Composer {
        events: Events::of(text),
        anchors: HashMap::new(),
        texts: HashSet::default(),
        pairs: Vec::new(),
        depth: 0,
        limits: *limits,
    };
    let Some(first) = composer.document()? else { return Ok(None) };
    let is_header = first.as_map().is_some_and(|map| map.len() == 1 && map.contains("spec"));
    let document = match is_header.then(|| composer.document()).transpose()?.flatten() {
        Some(second) => second,
        None => first,
    };
    composer.light(document).map(Some)
}

#[cfg(test)]
pub(crate) fn parse(text: &str) -> Result<Option<Node>, Fault> {
    parse_within(&Limits::default(), text)
}

struct Composer<'t> {
    events: Events<'t>,
    /// What each name stands for; `None` while it is being read.
    anchors: HashMap<String, Option<Node>>,
    /// Short texts seen before: most of them come again and again.
    texts: HashSet<Arc<str>, ahash::RandomState>,
    /// Keys and values of the mappings that are being read, those of the innermost one last.
    pairs: Vec<Pair>,
    depth: usize,
    limits: Limits,
}

/// A key of a mapping with its value.
struct Pair {
    key: Key,
    value: Node,
    is_merge: bool,
}

impl Composer<'_> {
    fn document(&mut self) -> Result<Option<Node>, Fault> {
        loop {
            match self.events.next()? {
                EventData::DocumentStart { .. } => break,
                EventData::StreamEnd => return Ok(None),
                _ => {}
            }
        }
        self.anchors.clear();
        let event = self.events.next()?;
        self.node(event).map(Some)
    }

    fn node(&mut self, event: EventData) -> Result<Node, Fault> {
        match event {
            EventData::Alias { anchor } => self.alias(&anchor),
            EventData::Scalar { anchor, tag, value, style, .. } => {
                let node = self.scalar(tag.as_deref(), &value, style)?;
                self.named(anchor, |_| Ok(node))
            }
            EventData::SequenceStart { anchor, tag, .. } => {
                self.named(anchor, |composer| composer.list(tag.as_deref()))
            }
            EventData::MappingStart { anchor, tag, .. } => {
                refuse_class(tag.as_deref())?;
                self.named(anchor, Self::map)
            }
            // The library pairs what opens and closes.
            _ => Ok(Node::Null),
        }
    }

    fn alias(&self, name: &str) -> Result<Node, Fault> {
        match self.anchors.get(name) {
            Some(Some(node)) => Ok(node.clone()),
            // A value that holds itself has no end.
            Some(None) => Err(Fault::TooBig),
            None => Err(Fault::UnknownAlias(name.to_owned())),
        }
    }

    fn named(
        &mut self,
        anchor: Option<String>,
        make: impl FnOnce(&mut Self) -> Result<Node, Fault>,
    ) -> Result<Node, Fault> {
        let Some(name) = anchor else { return make(self) };
        self.anchors.insert(name.clone(), None);
        let node = make(self)?;
        self.anchors.insert(name, Some(node.clone()));
        Ok(node)
    }

    fn deeper(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > self.limits.yaml_depth { Err(Fault::TooBig) } else { Ok(()) }
    }

    fn list(&mut self, tag: Option<&str>) -> Result<Node, Fault> {
        self.deeper()?;
        let mut items = Vec::new();
        loop {
            match self.events.next()? {
                EventData::SequenceEnd => break,
                event => items.push(self.node(event)?),
            }
        }
        self.depth -= 1;
        if tag == Some("!reference") {
            return Ok(Node::Reference(Arc::new(Reference { path: items })));
        }
        refuse_class(tag)?;
        self.light(Node::of_list(items))
    }

    fn map(&mut self) -> Result<Node, Fault> {
        self.deeper()?;
        let start = self.pairs.len();
        loop {
            let event = self.events.next()?;
            if matches!(event, EventData::MappingEnd) {
                break;
            }
            let is_merge = is_merge_key(&event);
            let key = self.key(event)?;
            let value = self.events.next()?;
            let value = self.node(value)?;
            self.pairs.push(Pair { key, value, is_merge });
        }
        self.depth -= 1;
        let entries = entries(self.pairs.drain(start..));
        self.light(Node::of_map(entries))
    }

    /// Refuses at once what aliases have made too large.
    fn light(&self, node: Node) -> Result<Node, Fault> {
        if node.weight() > self.limits.yaml_size { Err(Fault::TooBig) } else { Ok(node) }
    }

    fn key(&mut self, event: EventData) -> Result<Key, Fault> {
        Ok(match self.node(event)? {
            Node::Text(text) => Key::text(text),
            node => Key::other(&node.scalar().unwrap_or_else(|| super::emit::inline(&node))),
        })
    }

    fn scalar(
        &mut self,
        tag: Option<&str>,
        value: &str,
        style: ScalarStyle,
    ) -> Result<Node, Fault> {
        refuse_class(tag)?;
        if tag == Some("!reference") {
            // Without a list there is nothing to follow; whoever looks it up says so.
            return Ok(Node::Reference(Arc::new(Reference { path: Vec::new() })));
        }
        let is_text =
            matches!(tag, Some("!str" | "!binary" | TEXT_TAG | "tag:yaml.org,2002:binary"));
        if style != ScalarStyle::Plain || is_text {
            return Ok(Node::Text(self.text(value)));
        }
        match scalar::read(value) {
            scalar::Scalar::Text(text) => Ok(Node::Text(self.text(text))),
            scalar::Scalar::Value(node) => Ok(node),
            scalar::Scalar::Date => Err(Fault::Class("Date".to_owned())),
            scalar::Scalar::Time => Err(Fault::Class("Time".to_owned())),
        }
    }

    fn text(&mut self, text: &str) -> Arc<str> {
        if text.len() > LONGEST_SHARED {
            return Arc::from(text);
        }
        if let Some(shared) = self.texts.get(text) {
            return Arc::clone(shared);
        }
        let shared: Arc<str> = Arc::from(text);
        self.texts.insert(Arc::clone(&shared));
        shared
    }
}

/// The entries of a mapping. How many there are is known by now, so that they are put where they stay.
fn entries(pairs: impl ExactSizeIterator<Item = Pair>) -> Entries {
    let (mut entries, mut merged) = (Entries::with_capacity(pairs.len()), HashSet::new());
    for Pair { key, value, is_merge } in pairs {
        if is_merge && merge(&mut entries, &mut merged, &value) {
            continue;
        }
        if !merged.is_empty() {
            merged.remove(&key);
        }
        entries.insert(key, value);
    }
    entries
}

fn is_merge_key(event: &EventData) -> bool {
    matches!(event, EventData::Scalar { value, tag, .. }
        if value == "<<" && tag.as_deref() != Some(TEXT_TAG))
}

/// Takes over what a merge key names; whether it named mappings. Own keys win, then the earlier of a list.
fn merge(entries: &mut Entries, merged: &mut HashSet<Key>, value: &Node) -> bool {
    let sources: Vec<&Node> = match value {
        Node::Map(_) => vec![value],
        Node::List(list) => list.items().iter().rev().collect(),
        _ => return false,
    };
    if sources.iter().any(|source| source.as_map().is_none()) {
        return false;
    }
    for source in sources.into_iter().filter_map(Node::as_map) {
        for (key, value) in source.iter() {
            if !entries.contains_key(key) || merged.contains(key) {
                entries.insert(key.clone(), value.clone());
                merged.insert(key.clone());
            }
        }
    }
    true
}

/// Tags that ask for a value of some class of the program that reads them. All others mean nothing.
fn refuse_class(tag: Option<&str>) -> Result<(), Fault> {
    let Some(kind) = tag.and_then(|tag| tag.strip_prefix("!ruby/")) else { return Ok(()) };
    let name = match kind.split_once(':') {
        Some((_, name)) if !name.is_empty() => name,
        _ => match kind {
            "regexp" => "Regexp",
            "range" => "Range",
            "struct" => "Struct",
            "sym" | "symbol" | "array" | "hash" | "string" => return Ok(()),
            _ => "Object",
        },
    };
    if matches!(kind.split(':').next(), Some("sym" | "symbol" | "array" | "hash" | "string")) {
        return Ok(());
    }
    Err(Fault::Class(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{super::emit::inline, parse};

    fn read(text: &str) -> String {
        match parse(text) {
            Ok(Some(node)) => inline(&node),
            Ok(None) => "nothing".to_owned(),
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn own_keys_win_over_merged_ones_and_the_earlier_of_a_list_wins() {
        let base = ".a: &a {x: 1, y: 1}\n.b: &b {y: 2, z: 2}\n";

        let job = |text: &str| {
            read(&format!("{base}job: {text}")).split_once(", \"job\": ").unwrap().1.to_owned()
        };

        assert_eq!(job("{<<: *a, y: own}"), "{\"x\": 1, \"y\": \"own\"}}");
        assert_eq!(job("{y: own, <<: *a}"), "{\"y\": \"own\", \"x\": 1}}");
        assert_eq!(job("{<<: [*a, *b]}"), "{\"y\": 1, \"z\": 2, \"x\": 1}}");
        assert_eq!(job("{<<: text}"), "{\"<<\": \"text\"}}");
    }

    #[test]
    fn of_a_key_given_twice_the_last_counts() {
        assert_eq!(read("a: 1\nb: 2\na: 3"), "{\"a\": 3, \"b\": 2}");
    }

    #[test]
    fn tags_mean_nothing_but_for_text_references_and_classes() {
        assert_eq!(read("a: !x 10"), "{\"a\": 10}");
        assert_eq!(read("a: !x '10'"), "{\"a\": \"10\"}");
        assert_eq!(read("a: !!str 10"), "{\"a\": \"10\"}");
        assert_eq!(read("a: !reference [.b, c]"), "{\"a\": !reference [\".b\", \"c\"]}");
        assert_eq!(read("a: !ruby/object:Gem {}"), "Tried to load unspecified class: Gem");
        assert_eq!(read("a: 2022-12-24"), "Tried to load unspecified class: Date");
    }

    #[test]
    fn only_the_first_document_counts_unless_it_is_a_header() {
        assert_eq!(read("a: 1\n---\nb: 2"), "{\"a\": 1}");
        assert_eq!(read("spec: {}\n---\nb: 2"), "{\"b\": 2}");
        assert_eq!(read("# nothing"), "nothing");
    }

    #[test]
    fn what_grows_without_end_is_refused() {
        let mut bomb = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
        for level in 1..9 {
            let before = format!("*a{}", level - 1);
            bomb.push_str(&format!("a{level}: &a{level} [{}]\n", vec![before; 9].join(", ")));
        }

        assert_eq!(read(&bomb), "The parsed YAML is too big");
        assert_eq!(read("a: &a [*a]"), "The parsed YAML is too big");
        assert_eq!(read(&"[".repeat(100_000)), "The parsed YAML is too big");
        assert_eq!(read("a: *b"), "Unknown alias: b");
    }
}
