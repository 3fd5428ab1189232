//! Looking for groups and namespaces by what they are called. Each database has an index for that, and a language to
//! ask it.

use db::{
    Conn, Tx,
    trigram::{self, rarest},
};
use kernel::{
    Result,
    words::{SearchTerms, understand},
};

use crate::{
    listing::{Bind, Conditions, ids, json_of},
    search::containing,
};

/// More matches than this are not gathered before they are put in order.
const FEW: i64 = 2000;

/// Wants one of the columns of `table` to contain all long words, or to be the text where all are short.
pub(super) fn matching(
    tx: &mut Tx<'_>,
    all: &mut Conditions,
    table: &str,
    columns: [&str; 2],
    term: &str,
) -> Result<()> {
    let on_sqlite = matches!(tx.conn, Conn::Sqlite(_));
    match understand(term) {
        SearchTerms::Exactly(text) => {
            let text = all.bind(Bind::Word(text));
            let same = columns.map(|column| match column {
                "full_path" => format!("{table}.path_key = {text}"),
                _ => format!("{} = {text}", tx.folded(&format!("{table}.{column}"))),
            });
            all.plain(format!("({})", same.join(" OR ")));
        }
        SearchTerms::Words(words) if on_sqlite => {
            let phrases: Vec<String> =
                words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
            let phrases = phrases.join(" AND ");
            let question = columns.map(|column| format!("{column} : ({phrases})")).join(" OR ");
            let few = FEW + 1;
            let matches = format!(
                "SELECT rowid AS id FROM namespaces_search WHERE namespaces_search MATCH $1 LIMIT {few}"
            );
            // The index is asked once, in its own order, and not for the page and its count again.
            let found = ids(tx, &matches, &[Bind::Word(question)])?;
            if i64::try_from(found.len()).is_ok_and(|found| found < few) {
                let listed = "SELECT value FROM json_each({})";
                all.word(&format!("{table}.id IN ({listed})"), json_of(&found));
            } else {
                // SQLite compares ASCII without regard to case by itself, and much faster than our function.
                let ascii = words.iter().all(|word| word.is_ascii());
                contains(all, columns, &words, |column, place| match ascii {
                    true => format!("{table}.{column} LIKE {place} ESCAPE '\\'"),
                    false => format!("lower({table}.{column}) LIKE {place} ESCAPE '\\'"),
                });
            }
        }
        SearchTerms::Words(words) => {
            let mut each: [Vec<String>; 2] = Default::default();
            for word in &words {
                let part = rarest(tx, "namespaces", "name", word)?;
                let part = part.map(|part| part.text);
                for (column, conditions) in columns.iter().zip(&mut each) {
                    let text = format!("{table}.{column}");
                    let mut bind = |value: String| all.bind(Bind::Word(value));
                    conditions.push(trigram::contains(&text, word, part, &mut bind));
                }
            }
            let each = each.map(|conditions| format!("({})", conditions.join(" AND ")));
            all.plain(format!("({})", each.join(" OR ")));
        }
    }
    Ok(())
}

fn contains(
    all: &mut Conditions,
    columns: [&str; 2],
    words: &[String],
    like: impl Fn(&str, &str) -> String,
) {
    let places: Vec<String> =
        words.iter().map(|word| all.bind(Bind::Word(containing(word)))).collect();
    let each = columns.map(|column| {
        let words: Vec<String> = places.iter().map(|place| like(column, place)).collect();
        format!("({})", words.join(" AND "))
    });
    all.plain(format!("({})", each.join(" OR ")));
}
