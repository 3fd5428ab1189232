//! The file of code owners: patterns with owners behind them, in sections.
//!
//! Within a section the last pattern that fits counts; every section is asked for itself.

use super::glob::Glob;

/// The section of what stands above all headers.
const WITHOUT_NAME: &str = "codeowners";

/// A parsed code owners file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeOwners {
    pub sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub name: String,
    /// Nobody has to approve; the owners are only told.
    pub optional: bool,
    /// How many of the owners of a pattern have to approve.
    pub approvals: i64,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    pattern: String,
    glob: Glob,
    owners: Vec<Owner>,
}

/// Somebody who owns files.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// A person or a group, by name or path.
    Named(String),
    Email(String),
}

impl CodeOwners {
    /// Reads the file; what cannot be understood is passed over.
    pub fn parse(text: &str) -> Self {
        let mut owners = Self::default();
        let mut place = owners.section(WITHOUT_NAME, false, 1);
        let mut defaults: Vec<Owner> = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(header) = Header::of(line) {
                place = owners.section(header.name, header.optional, header.approvals);
                defaults = header.owners;
                continue;
            }
            let (pattern, rest) = split(line);
            let mut named = owners_in(rest);
            if named.is_empty() {
                named.clone_from(&defaults);
            }
            let entry = Entry { glob: Glob::new(&pattern), pattern, owners: named };
            if let Some(section) = owners.sections.get_mut(place) {
                section.entries.push(entry);
            }
        }
        owners.sections.retain(|section| !section.entries.is_empty());
        owners
    }

    /// The place of a section. Two of one name are one, whatever the case of their letters.
    fn section(&mut self, name: &str, optional: bool, approvals: i64) -> usize {
        let key = name.to_lowercase();
        let known = self.sections.iter().position(|section| section.name.to_lowercase() == key);
        known.unwrap_or_else(|| {
            let name = name.to_owned();
            self.sections.push(Section { name, optional, approvals, entries: Vec::new() });
            self.sections.len() - 1
        })
    }
}

impl Section {
    /// The pattern that counts for a path, with its owners; none where nobody owns it.
    pub fn owners_of(&self, path: &str) -> Option<(&str, &[Owner])> {
        let entry = self.entries.iter().rev().find(|entry| entry.glob.matches(path))?;
        (!entry.owners.is_empty()).then_some((entry.pattern.as_str(), entry.owners.as_slice()))
    }
}

/// `^[Documentation][2] @ada @docs-team`
struct Header<'a> {
    name: &'a str,
    optional: bool,
    approvals: i64,
    owners: Vec<Owner>,
}

impl<'a> Header<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let (optional, rest) = match line.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let (name, rest) = rest.strip_prefix('[')?.split_once(']')?;
        let count = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (approvals, rest) = match count {
            Some((count, rest)) => (count.parse().unwrap_or(1), rest),
            None => (1, rest),
        };
        let whole = rest.is_empty() || rest.starts_with(char::is_whitespace);
        let name = name.trim();
        (whole && !name.is_empty()).then(|| Self {
            name,
            optional,
            approvals: approvals.clamp(1, 100),
            owners: owners_in(rest),
        })
    }
}

/// The pattern, in which blanks may stand behind a backslash, and what follows it.
fn split(line: &str) -> (String, &str) {
    let (mut pattern, mut escaped) = (String::new(), false);
    for (place, letter) in line.char_indices() {
        match letter {
            letter if escaped => {
                if !letter.is_whitespace() {
                    pattern.push('\\');
                }
                pattern.push(letter);
                escaped = false;
            }
            '\\' => escaped = true,
            letter if letter.is_whitespace() => return (pattern, &line[place..]),
            letter => pattern.push(letter),
        }
    }
    (pattern, "")
}

fn owners_in(text: &str) -> Vec<Owner> {
    let words = text.split_whitespace().take_while(|word| !word.starts_with('#'));
    let mut owners: Vec<Owner> = words.filter_map(owner).collect();
    owners.sort_unstable();
    owners.dedup();
    owners
}

fn owner(word: &str) -> Option<Owner> {
    if let Some(name) = word.strip_prefix('@') {
        // `@@developers` is a role, which is nobody in particular.
        let named = !name.is_empty() && !name.starts_with('@');
        return named.then(|| Owner::Named(name.to_owned()));
    }
    let (local, host) = word.split_once('@')?;
    (!local.is_empty() && !host.is_empty()).then(|| Owner::Email(word.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::{CodeOwners, Owner};

    fn named(name: &str) -> Owner {
        Owner::Named(name.to_owned())
    }

    fn owners(text: &str, path: &str) -> Vec<(String, Vec<Owner>)> {
        let file = CodeOwners::parse(text);
        let of = |section: &super::Section| {
            let (_, owners) = section.owners_of(path)?;
            Some((section.name.clone(), owners.to_vec()))
        };
        file.sections.iter().filter_map(of).collect()
    }

    #[test]
    fn the_last_pattern_that_fits_counts() {
        let text = "# comment\n* @all\n*.md @docs writer@Example.com # them\n\\#x @odd\n/a\\ b @blank\nsecret\n";
        let of = |path: &str| owners(text, path).pop().map(|(_, owners)| owners);
        assert_eq!(of("a.rs"), Some(vec![named("all")]));
        let writers = vec![named("docs"), Owner::Email("writer@example.com".to_owned())];
        assert_eq!(of("x/a.md"), Some(writers));
        assert_eq!(of("#x"), Some(vec![named("odd")]));
        assert_eq!(of("a b"), Some(vec![named("blank")]));
        assert_eq!(of("secret"), None);
    }

    #[test]
    fn sections_are_asked_one_by_one() {
        let text = "*.rb @ruby\n[Docs][2] @docs\n*.md\nREADME.md @ada\n^[Tests]\n*_test.rb @tests\n[DOCS]\n*.txt @notes\n";
        let file = CodeOwners::parse(text);
        let told: Vec<(&str, bool, i64)> = file
            .sections
            .iter()
            .map(|section| (section.name.as_str(), section.optional, section.approvals))
            .collect();
        assert_eq!(told, [("codeowners", false, 1), ("Docs", false, 2), ("Tests", true, 1)]);
        let both = owners(text, "a_test.rb");
        assert_eq!(both[0].1, [named("ruby")]);
        assert_eq!((both[1].0.as_str(), both[1].1.as_slice()), ("Tests", &[named("tests")][..]));
        assert_eq!(owners(text, "x.md")[0].1, [named("docs")]);
        assert_eq!(owners(text, "README.md")[0].1, [named("ada")]);
        assert_eq!(owners(text, "x.txt")[0].0, "Docs");
    }

    #[test]
    fn what_is_no_header_is_a_pattern() {
        for line in ["[abc]*.rb @x", "[open @x", "[] @x"] {
            let sections = CodeOwners::parse(line).sections;
            assert_eq!(sections[0].name, "codeowners", "{line}");
        }
        assert!(CodeOwners::parse("[Empty]\n# nothing\n").sections.is_empty());
        assert_eq!(owners("* @@developers @ @a/b", "x")[0].1, [named("a/b")]);
    }
}
