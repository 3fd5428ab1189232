//! Looking for items by their words. Each database has an index for that, and a language to ask it.

use db::{
    Conn, Tx,
    listing::Bind,
    trigram::{is_repetitive, phrases, rarest, word_pattern},
};
use kernel::{
    Result,
    like::containing,
    words::{SearchTerms, understand},
};

use super::{
    conditions::{Conditions, IndexedFilter, WordSearch},
    part::Part,
};
use crate::item::ItemKind;

/// The fields that a search covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fields {
    Title,
    Description,
    Both,
}

impl Fields {
    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Title => &["title"],
            Self::Description => &["description"],
            Self::Both => &["title", "description"],
        }
    }
}

/// A search text and the fields that it covers.
#[derive(Clone, Debug)]
pub struct Search {
    pub text: String,
    pub fields: Fields,
}

impl Conditions {
    /// All long words in one field; where all are short, a field that says just this.
    pub fn containing(&mut self, tx: &Tx<'_>, search: &Search) {
        if search.text.trim().is_empty() {
            return;
        }
        let on_sqlite = matches!(tx.conn, Conn::Sqlite(_));
        let columns = search.fields.columns();
        match understand(&search.text) {
            SearchTerms::Exactly(text) => {
                let same = columns
                    .iter()
                    .map(|column| format!("{} = {{}}", tx.folded(&format!("i.{column}"))));
                let sql = format!("({})", same.collect::<Vec<_>>().join(" OR "));
                let binds = columns.iter().map(|_| Bind::Word(text.clone())).collect();
                self.plain.push(Part::with(sql, binds));
            }
            // There are so few epics that they have no index of words.
            SearchTerms::Words(words) if self.kind == ItemKind::Epic => {
                self.plain.push(contains("i.", columns, &words, on_sqlite));
            }
            SearchTerms::Words(words) => {
                if on_sqlite {
                    let check = contains("i.", columns, &words, true);
                    self.indexed
                        .push(IndexedFilter::new(self.search_condition(columns, &words), check));
                } else {
                    self.words.push(WordSearch { columns, words });
                }
            }
        }
    }

    /// What SQLite's index of texts is asked. Where that are parts of the words, what it finds is compared with all of them.
    fn search_condition(&self, columns: &[&str], words: &[String]) -> Part {
        let table = self.table();
        let phrases = phrases(words);
        let each: Vec<String> =
            columns.iter().map(|column| format!("({column} : ({}))", phrases.question)).collect();
        let mut binds = vec![Bind::Word(each.join(" OR "))];
        if phrases.are_whole {
            let sql = format!("SELECT rowid FROM {table}_search WHERE {table}_search MATCH {{}}");
            return Part::with(sql, binds);
        }
        let check = contains("y.", columns, words, true);
        // In this order and no other: few are compared once the index is asked.
        let sql = format!(
            "SELECT y.id FROM {table}_search CROSS JOIN {table} y ON y.id = {table}_search.rowid \
             WHERE {table}_search MATCH {{}} AND {}",
            check.sql
        );
        binds.extend(check.binds);
        Part::with(sql, binds)
    }
}

/// Whether an item of PostgreSQL has these words. Its index is asked for the rarest parts of them, and what that finds is
/// compared with the words. Where there are few texts, all are compared, but for words of which the database's own sample
/// knows nothing.
pub(super) fn by_rarest(
    tx: &mut Tx<'_>,
    table: &'static str,
    about: &WordSearch,
    are_few: bool,
) -> Result<Part> {
    let mut parts = Vec::new();
    for word in &about.words {
        parts.push(rarest(tx, table, "title", word)?);
    }
    let is_rare = parts.iter().any(|part| part.is_some_and(|part| part.seen == 0));
    let is_asked = !are_few || is_rare;
    let is_whole = parts.iter().all(Option::is_none);
    let mut binds = Vec::new();
    let mut all = Vec::new();
    if is_asked {
        let asked: Vec<&str> = about
            .words
            .iter()
            .zip(&parts)
            .map(|(word, part)| part.map_or(word.as_str(), |part| part.text))
            .collect();
        all.push(in_one_column(about.columns, |column| {
            let each = asked.iter().map(|part| {
                let (operator, value) = word_pattern(part);
                binds.push(Bind::Word(value));
                format!("i.{column} {operator} {{}}")
            });
            each.collect::<Vec<_>>().join(" AND ")
        }));
    }
    if !is_asked || !is_whole {
        all.push(read_through(about, &mut binds));
    }
    Ok(Part::with(format!("({})", all.join(" AND ")), binds))
}

/// Whether an item of PostgreSQL has these words, for which its texts are read and no index is asked.
pub(super) fn by_reading(about: &WordSearch) -> Part {
    let mut binds = Vec::new();
    let sql = read_through(about, &mut binds);
    Part::with(sql, binds)
}

fn read_through(about: &WordSearch, binds: &mut Vec<Bind>) -> String {
    in_one_column(about.columns, |column| {
        let each = about.words.iter().map(|word| compared(column, word, binds));
        each.collect::<Vec<_>>().join(" AND ")
    })
}

fn in_one_column(columns: &[&str], mut has: impl FnMut(&str) -> String) -> String {
    let each = columns.iter().map(|column| format!("({})", has(column)));
    format!("({})", each.collect::<Vec<_>>().join(" OR "))
}

/// Whether a column of PostgreSQL has a word, in a way that no index is asked for. Letters of ASCII are made small much
/// sooner than those of a language.
fn compared(column: &str, word: &str, binds: &mut Vec<Bind>) -> String {
    if word.is_ascii() {
        binds.push(Bind::Word(containing(word)));
        return format!("lower(i.{column} COLLATE \"C\") LIKE {{}}");
    }
    let (operator, value) = word_pattern(word);
    binds.push(Bind::Word(value));
    format!("i.{column} || '' {operator} {{}}")
}

/// Whether one of the columns, written after `before`, has all the words.
fn contains(before: &str, columns: &[&str], words: &[String], on_sqlite: bool) -> Part {
    // SQLite compares ASCII without regard to case by itself, and much faster than our function.
    let ascii = words.iter().all(|word| word.is_ascii());
    let mut binds = Vec::new();
    let each = columns.iter().map(|column| {
        let text = match on_sqlite && !ascii {
            true => format!("lower({before}{column})"),
            false => format!("{before}{column}"),
        };
        let all = words.iter().map(|word| {
            // A pattern whose letters come again is begun at each place of a text that has them again.
            if on_sqlite && is_repetitive(word) {
                binds.push(Bind::Word(word.to_lowercase()));
                return format!("instr(lower({before}{column}), {{}}) > 0");
            }
            if on_sqlite {
                binds.push(Bind::Word(containing(word)));
                return format!("{text} LIKE {{}} ESCAPE '\\'");
            }
            let (operator, value) = word_pattern(word);
            binds.push(Bind::Word(value));
            format!("{text} {operator} {{}}")
        });
        format!("({})", all.collect::<Vec<_>>().join(" AND "))
    });
    let sql = format!("({})", each.collect::<Vec<_>>().join(" OR "));
    Part::with(sql, binds)
}
