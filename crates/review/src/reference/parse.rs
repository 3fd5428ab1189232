//! Finds references in a text - users, items, labels, milestones - in one pass, whatever the text holds.

use std::ops::Range;

use super::code::without_code;
use crate::item::ItemKind;

/// An item as a text names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ItemName {
    /// The project's full path, or its name alone where it is next to the project of the text; of an epic the group's.
    /// `None` for that of the text itself.
    pub project: Option<String>,
    pub kind: ItemKind,
    pub iid: i64,
}

/// The references in a text, each once, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// In lower case, without the `@`.
    pub people: Vec<String>,
    /// Those of `people` with whom the text begins.
    pub addressed: Vec<String>,
    pub items: Vec<ItemName>,
    pub labels: Vec<String>,
    pub milestones: Vec<String>,
}

/// Nobody reads more names in one text; those who write more try the patience of others.
const MOST: usize = 100;

/// One name in a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// Somebody, or a group; in lower case, without the `@`.
    Person(String),
    Item(ItemName),
    Label(String),
    Milestone(String),
}

/// Reads a text. Addresses count that begin with `address`.
pub fn parse(text: &str, address: &str) -> References {
    let shown = without_code(text);
    let mut found = References::default();
    let mut scan = Scan { text: &shown, at: 0 };
    let mut is_greeting = true;
    while let Some(piece) = scan.piece(address) {
        match piece {
            Piece::Gap => {}
            Piece::Text => is_greeting = false,
            Piece::Name(reference) => {
                match &reference {
                    Reference::Person(name) if is_greeting => {
                        add(&mut found.addressed, name.clone());
                    }
                    Reference::Person(_) => {}
                    _ => is_greeting = false,
                }
                found.take(reference);
            }
        }
    }
    found
}

/// Every name in a text in which nothing is code, with its bytes there.
pub fn find(text: &str, address: &str) -> Vec<(Range<usize>, Reference)> {
    let mut found = Vec::new();
    let mut scan = Scan { text, at: 0 };
    loop {
        let from = scan.at;
        let Some(piece) = scan.piece(address) else { return found };
        let Piece::Name(reference) = piece else { continue };
        let is_quoted = text[from..].get(1..2) == Some("\"");
        let to = match &reference {
            // What ends a sentence was read, too.
            Reference::Person(name) => from + 1 + name.len(),
            Reference::Label(title) | Reference::Milestone(title) if !is_quoted => {
                from + 1 + title.len()
            }
            _ => scan.at,
        };
        found.push((from..to, reference));
    }
}

impl References {
    /// Adds a name, unless it is among them or there are too many.
    pub fn take(&mut self, reference: Reference) {
        match reference {
            Reference::Person(name) => add(&mut self.people, name),
            Reference::Item(name) => add(&mut self.items, name),
            Reference::Label(title) => add(&mut self.labels, title),
            Reference::Milestone(title) => add(&mut self.milestones, title),
        }
    }
}

fn add<T: PartialEq>(to: &mut Vec<T>, new: T) {
    if to.len() < MOST && !to.contains(&new) {
        to.push(new);
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// `<address>/group/project/-/issues/1`, `<address>/groups/group/-/epics/1`
fn item_at(url: &str, address: &str) -> Option<ItemName> {
    let path = url.strip_prefix(address)?.strip_prefix('/')?;
    let (project, rest) = path.split_once("/-/")?;
    let (kind, rest) = rest.split_once('/')?;
    let (project, kind) = match kind {
        "issues" => (project, ItemKind::Issue),
        "merge_requests" => (project, ItemKind::MergeRequest),
        "epics" => (project.strip_prefix("groups/")?, ItemKind::Epic),
        _ => return None,
    };
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let iid = rest[..digits].parse().ok()?;
    Some(ItemName { project: Some(project.to_owned()), kind, iid })
}

/// The next token of a scan.
enum Piece {
    Name(Reference),
    /// What may stand between the names with which a text begins.
    Gap,
    Text,
}

struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    /// Goes on to what follows; nothing at the end.
    fn piece(&mut self, address: &str) -> Option<Piece> {
        let letter = self.peek()?;
        let is_start = self.is_at_start();
        let name = match letter {
            '@' if is_start => self.person().map(Reference::Person),
            'h' if is_start && self.is_address() => {
                let url = self.word();
                item_at(url, address).map(Reference::Item)
            }
            '#' | '!' | '&' if is_start => self.item(None).map(Reference::Item),
            '~' if is_start => self.title().map(Reference::Label),
            '%' if is_start => self.title().map(Reference::Milestone),
            letter if is_start && is_word(letter) => {
                let path = self.path();
                self.item(Some(path)).map(Reference::Item)
            }
            letter => {
                self.skip();
                let is_gap = letter.is_whitespace() || letter == ',';
                return Some(if is_gap { Piece::Gap } else { Piece::Text });
            }
        };
        Some(name.map_or(Piece::Text, Piece::Name))
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Whether no word goes on here.
    fn is_at_start(&self) -> bool {
        let before = self.text[..self.at].chars().next_back();
        before.is_none_or(|letter| {
            !is_word(letter) && !matches!(letter, '/' | '@' | '#' | '&' | '\\')
        })
    }

    fn is_address(&self) -> bool {
        self.rest().starts_with("http://") || self.rest().starts_with("https://")
    }

    /// Up to the next blank, or what ends an address.
    fn word(&mut self) -> &'t str {
        let ends = |letter: char| {
            letter.is_whitespace() || matches!(letter, '<' | '>' | '"' | '\'' | ')' | ']')
        };
        self.until(ends)
    }

    fn until(&mut self, ends: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(ends).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// `@name`
    fn person(&mut self) -> Option<String> {
        self.skip();
        let inside = |letter: char| letter.is_ascii_alphanumeric() || "_.-/".contains(letter);
        let name = self.until(|letter| !inside(letter));
        let name = name.trim_end_matches(['.', '-', '/']);
        (!name.is_empty() && !name.starts_with(['.', '-', '/'])).then(|| name.to_lowercase())
    }

    /// `group/project`, or any other word.
    fn path(&mut self) -> &'t str {
        let inside = |letter: char| is_word(letter) || ".-/".contains(letter);
        self.until(|letter| !inside(letter))
    }

    /// `#1`, `!1` where the path of a project, if any, has just been read.
    fn item(&mut self, project: Option<&str>) -> Option<ItemName> {
        let kind = match self.peek()? {
            '#' => ItemKind::Issue,
            '!' => ItemKind::MergeRequest,
            '&' => ItemKind::Epic,
            _ => return None,
        };
        self.skip();
        let digits = self.until(|letter| !letter.is_ascii_digit());
        if digits.is_empty() || self.peek().is_some_and(is_word) {
            return None;
        }
        let iid = digits.parse().ok()?;
        let project = project.map(|path| path.trim_matches(['.', '-', '/']).to_owned());
        Some(ItemName { project, kind, iid })
    }

    /// `~bug`, `~"two words"`
    fn title(&mut self) -> Option<String> {
        self.skip();
        let title = match self.peek()? {
            '"' => {
                self.skip();
                let title = self.until(|letter| matches!(letter, '"' | '\n'));
                if self.peek() != Some('"') {
                    return None;
                }
                self.skip();
                title
            }
            _ => {
                let inside =
                    |letter: char| is_word(letter) || matches!(letter, '-' | '.' | ':' | '?' | '&');
                self.until(|letter| !inside(letter)).trim_end_matches(['.', ':', '?'])
            }
        };
        (!title.is_empty()).then(|| title.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{ItemName, References, find, parse};
    use crate::item::ItemKind;

    fn read(text: &str) -> References {
        parse(text, "https://forge.test")
    }

    fn items(text: &str) -> Vec<String> {
        let sign = |kind| match kind {
            ItemKind::Issue => '#',
            ItemKind::MergeRequest => '!',
            ItemKind::Epic => '&',
        };
        let shown = |item: ItemName| {
            format!("{}{}{}", item.project.unwrap_or_default(), sign(item.kind), item.iid)
        };
        read(text).items.into_iter().map(shown).collect()
    }

    #[test]
    fn people_are_named_by_an_at() {
        assert_eq!(read("hi @Ada, (@bob.smith). @ada").people, ["ada", "bob.smith"]);
        assert_eq!(read("mail ada@forge.test, a/@b, \\@c, @@d, `@e`").people, Vec::<String>::new());
        assert_eq!(read("@a-b- @-c @.d @e/f").people, ["a-b", "e/f"]);
    }

    #[test]
    fn a_text_is_addressed_to_those_it_begins_with() {
        assert_eq!(read(" @ada, @bob look, @eve").addressed, ["ada", "bob"]);
        assert_eq!(read("look @ada").addressed, Vec::<String>::new());
    }

    #[test]
    fn items_are_named_here_and_elsewhere() {
        assert_eq!(items("#1, !2 (#3) a#4"), ["#1", "!2", "#3", "a#4"]);
        assert_eq!(items("group/proj#5 top/sub/proj!6"), ["group/proj#5", "top/sub/proj!6"]);
        assert_eq!(items("#1 #1 `#7`\n```\n#8\n```\n#x #9a ##10"), ["#1"]);
        assert_eq!(items("#99999999999999999999"), Vec::<String>::new());
    }

    #[test]
    fn addresses_of_this_installation_name_items() {
        assert_eq!(
            items(
                "see https://forge.test/g/p/-/issues/7#note_3 and <https://forge.test/g/p/-/merge_requests/8>"
            ),
            ["g/p#7", "g/p!8"]
        );
        assert_eq!(items("https://forge.test/groups/g/h/-/epics/9"), ["g/h&9"]);
        assert_eq!(
            items("https://other.test/g/p/-/issues/7 https://x.test/a#1"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn labels_and_milestones_may_have_blanks() {
        let found = read("~bug ~\"two words\" ~scope::x %1.0 %\"next one\" 5% ~\"open");
        assert_eq!(found.labels, ["bug", "two words", "scope::x"]);
        assert_eq!(found.milestones, ["1.0", "next one"]);
    }

    #[test]
    fn names_are_found_where_they_stand() {
        let text = "@Ada. see grp/app#12, !3 and ~\"two words\" or ~bug: %1.0. no#7";
        let found = find(text, "https://forge.test");
        let names: Vec<&str> = found.into_iter().map(|(at, _)| &text[at]).collect();
        assert_eq!(names, ["@Ada", "grp/app#12", "!3", "~\"two words\"", "~bug", "%1.0", "no#7"]);
    }

    #[test]
    fn a_hostile_text_is_read_in_one_go() {
        for unit in ["@a ", "#1 ", "a/", "~\"", "`", "http://", "@", "&&&"] {
            let text = unit.repeat(300_000 / unit.len());
            let found = read(&text);
            assert!(found.people.len() <= 100 && found.items.len() <= 100);
        }
        let many: String = (0..500).map(|number| format!("@u{number} #{number} ")).collect();
        assert_eq!(read(&many).people.len(), 100);
    }
}
