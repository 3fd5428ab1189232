//! Projects in which somebody's words are.

use db::{
    Conn, Tx,
    trigram::{rarest, word_pattern},
};
use kernel::{
    Result,
    words::{SearchTerms, understand},
};

use super::conditions::{Conditions, IndexCondition};
use crate::{
    listing::Bind,
    project::search::{question, together},
    search::containing as containing_text,
};

/// All words are in one of the columns. Each database has an index for that, and a language to ask it.
pub(super) fn containing(
    tx: &mut Tx<'_>,
    all: &mut Conditions,
    search: &str,
    namespaces: bool,
) -> Result<()> {
    let on_sqlite = matches!(tx.conn, Conn::Sqlite(_));
    let columns = match namespaces {
        true => ["full_path", "full_name", "description"],
        false => ["path", "name", "description"],
    };
    match understand(search) {
        // SQLite compares ASCII without regard to case by itself, and much faster than our function.
        SearchTerms::Exactly(text) if on_sqlite && text.is_ascii() => {
            let pattern = containing_text(&text);
            all.binds.push(Bind::Word(pattern[1..pattern.len() - 1].to_owned()));
            let place = all.binds.len();
            let same = columns.map(|column| format!("p.{column} LIKE ${place} ESCAPE '\\'"));
            all.plain(&format!("({})", same.join(" OR ")));
        }
        SearchTerms::Exactly(text) => {
            all.binds.push(Bind::Word(text));
            let place = all.binds.len();
            let same =
                columns.map(|column| format!("{} = ${place}", tx.folded(&format!("p.{column}"))));
            all.plain(&format!("({})", same.join(" OR ")));
        }
        SearchTerms::Words(words) if on_sqlite => {
            all.indexed =
                Some(IndexCondition { question: question(&words, &columns), words, columns });
        }
        SearchTerms::Words(words) => {
            let first = all.binds.len() + 1;
            all.binds.extend(words.iter().map(|word| Bind::Word(containing_text(word))));
            for word in &words {
                // One look into an index instead of three, by the rarest part of the word; then each column by itself.
                let part = rarest(tx, "projects", columns[0], word)?
                    .map_or(word.as_str(), |part| part.text);
                all.binds.push(Bind::Word(containing_text(part)));
                let place = all.binds.len();
                // These know every script by themselves: their collation is the database's own.
                let like = if word_pattern(part).0 == "LIKE" { "LIKE" } else { "ILIKE" };
                all.plain(&format!("{} {like} ${place}", together(columns)));
            }
            let each = columns.map(|column| {
                let text = format!("p.{column} COLLATE \"default\"");
                let words =
                    (first..first + words.len()).map(|place| format!("{text} ILIKE ${place}"));
                format!("({})", words.collect::<Vec<_>>().join(" AND "))
            });
            all.plain(&format!("({})", each.join(" OR ")));
        }
    }
    Ok(())
}
