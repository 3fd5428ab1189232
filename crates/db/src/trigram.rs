//! The parts of words by which the indexes of texts are best asked.
//!
//! SQLite's index knows at which places of a text the same three letters are, and walks through those of each three of a
//! word. What has the same three letters again and again is walked through as often.
//!
//! PostgreSQL's index knows which rows have the same three letters, and compares a list for each three of them. In `topic-4321`
//! those of `topic` may be in every row, and comparing with them takes most of the time; `4321` alone finds little more.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use diesel::{prelude::*, sql_types::Text};
use kernel::{Result, Ts, like::containing};
use time::Duration;

use crate::{
    Conn, Tx,
    listing::{Bind, rows},
};

/// So many letters are in the lists of the index.
const LISTED: usize = 3;

/// SQLite's index is asked for words of so many letters as they are.
const SHORT: usize = 12;

/// SQLite's index is asked for no more words than this.
const MOST_PHRASES: usize = 8;

/// A part of a word, and how many texts of the database's own sample have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RarePart<'w> {
    pub text: &'w str,
    pub seen: usize,
}

/// The part of `word` that the fewest rows of the table are expected to have; none where the whole word is as good.
///
/// # Errors
/// When the database cannot be read.
pub fn rarest<'w>(
    tx: &mut Tx<'_>,
    table: &'static str,
    column: &'static str,
    word: &'w str,
) -> Result<Option<RarePart<'w>>> {
    let parts = parts(word);
    if matches!(tx.conn, Conn::Sqlite(_)) || parts.len() < 2 {
        return Ok(None);
    }
    let sample = sample(tx, table, column)?;
    Ok(rarest_in(&sample, &parts))
}

/// What SQLite's index of texts is asked for words, all of which a text has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrases {
    /// In the language of the index.
    pub question: String,
    /// Whether every text with these has the words. Where not, what the index finds is to be compared with them.
    pub are_whole: bool,
}

/// How SQLite's index is asked for these words so that it is not long at it, whatever the words and the texts are.
pub fn phrases(words: &[String]) -> Phrases {
    let mut asked: Vec<&str> = Vec::new();
    for word in words {
        let part = distinct_part(word);
        if asked.len() < MOST_PHRASES && !asked.contains(&part) {
            asked.push(part);
        }
    }
    let are_whole = words.iter().all(|word| asked.contains(&word.as_str()));
    let quoted: Vec<String> =
        asked.iter().map(|part| format!("\"{}\"", part.replace('"', "\"\""))).collect();
    Phrases { question: quoted.join(" AND "), are_whole }
}

/// Whether SQLite's index is asked for a part of this word alone, since the word has the same letters again.
pub fn is_repetitive(word: &str) -> bool {
    distinct_part(word).len() < word.len()
}

/// The longest part of a word without the same three letters again; a short word is taken as it is.
fn distinct_part(word: &str) -> &str {
    let starts: Vec<usize> = word.char_indices().map(|(start, _)| start).collect();
    if starts.len() <= SHORT {
        return word;
    }
    let small = |letter: char| letter.to_lowercase().next().unwrap_or(letter);
    let letters: Vec<char> = word.chars().map(small).collect();
    let mut last: HashMap<&[char], usize> = HashMap::new();
    let mut begin = 0;
    let mut longest: Range<usize> = 0..LISTED;
    for (place, three) in letters.windows(LISTED).enumerate() {
        if let Some(before) = last.insert(three, place) {
            begin = begin.max(before + 1);
        }
        let end = place + LISTED;
        if end - begin > longest.len() {
            longest = begin..end;
        }
    }
    let start_of = |letter: usize| starts.get(letter).copied().unwrap_or(word.len());
    word.get(start_of(longest.start)..start_of(longest.end)).unwrap_or(word)
}

/// How PostgreSQL is asked whether a text contains a word: the operator, and the value that stands behind it.
///
/// Columns are compared by their bytes, so that `ILIKE` knows the cases of ASCII alone. Every other letter is looked for in
/// each of its cases, by a pattern that the index of texts understands as well. What has one case alone is compared as it
/// is, which is much less work.
pub fn word_pattern(word: &str) -> (&'static str, String) {
    let cased: Vec<char> = word.chars().filter(|letter| has_cases(*letter)).collect();
    match &cased[..] {
        [] => ("LIKE", containing(word)),
        cased if cased.iter().all(char::is_ascii) => ("ILIKE", containing(word)),
        _ => ("~", word.chars().map(in_each_case).collect()),
    }
}

fn has_cases(letter: char) -> bool {
    letter.to_lowercase().ne(letter.to_uppercase())
}

/// A letter in each of its cases, as a part of a regular expression.
fn in_each_case(letter: char) -> String {
    if letter.is_alphanumeric() && !has_cases(letter) {
        return letter.to_string();
    }
    if !has_cases(letter) {
        // What has a meaning in the expression, and what has none, as a set of this alone.
        return match letter {
            '^' | '\\' | '[' | ']' => format!("\\{letter}"),
            letter => format!("[{letter}]"),
        };
    }
    let small: Vec<char> = letter.to_lowercase().collect();
    let mut cases: Vec<char> = Vec::new();
    let large = letter.to_uppercase().filter(|_| letter.to_uppercase().count() == 1);
    // At the end of a word the Greek one has a form of its own.
    let last = small.contains(&'\u{3c3}').then_some('\u{3c2}');
    for case in [letter].into_iter().chain(small).chain(large).chain(last) {
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    format!("[{}]", cases.into_iter().collect::<String>())
}

/// Whether a text contains a word, as SQL for PostgreSQL, asked of the index by the rarest part of it where there is one.
/// `bind` takes a value along and tells how it is named.
pub fn contains(
    text: &str,
    word: &str,
    part: Option<&str>,
    bind: &mut impl FnMut(String) -> String,
) -> String {
    let (operator, whole) = word_pattern(word);
    let whole = bind(whole);
    match part.map(word_pattern) {
        // What is put together is in no index, so the index is not asked for the rest as well.
        Some((asked, part)) => {
            let part = bind(part);
            format!("{text} {asked} {part} AND {text} || '' {operator} {whole}")
        }
        None => format!("{text} {operator} {whole}"),
    }
}

/// The parts of a word that the index can be asked for: runs of letters and digits. A short one keeps what is around it,
/// since where a run begins or ends is listed, too.
fn parts(word: &str) -> Vec<&str> {
    let is_in_run = |letter: char| letter.is_alphanumeric();
    let mut parts = Vec::new();
    let mut begin = 0;
    while let Some(first) = word.get(begin..).and_then(|rest| rest.find(is_in_run)) {
        let start = begin + first;
        let rest = word.get(start..).unwrap_or_default();
        let end =
            rest.find(|letter| !is_in_run(letter)).map_or(word.len(), |length| start + length);
        let run = word.get(start..end).unwrap_or_default();
        let next = word.get(end..).and_then(|rest| rest.find(is_in_run));
        let after = next.map_or(word.len(), |length| end + length);
        parts.push(match run.chars().count() {
            1 => "",
            length if length < LISTED => word.get(begin..after).unwrap_or_default(),
            _ => run,
        });
        begin = end;
    }
    parts
}

fn rarest_in<'w>(sample: &[String], parts: &[&'w str]) -> Option<RarePart<'w>> {
    if sample.is_empty() {
        return None;
    }
    let times = |part: &str| {
        let part = part.to_lowercase();
        sample.iter().filter(|text| text.contains(&part)).count()
    };
    let parts = parts.iter().filter(|part| !part.is_empty());
    let rarest = parts.map(|text| RarePart { text, seen: times(text) });
    rarest.min_by_key(|part| (part.seen, usize::MAX - part.text.len()))
}

#[derive(QueryableByName)]
struct SampleText {
    #[diesel(sql_type = Text)]
    text: String,
}

type Samples = HashMap<(&'static str, &'static str), (Ts, Arc<[String]>)>;

static SAMPLES: LazyLock<Mutex<Samples>> = LazyLock::new(Mutex::default);

/// Texts of a column as the database's own statistics know them, in small letters.
fn sample(tx: &mut Tx<'_>, table: &'static str, column: &'static str) -> Result<Arc<[String]>> {
    const LIFETIME: Duration = Duration::minutes(10);
    let known =
        SAMPLES.lock().unwrap_or_else(PoisonError::into_inner).get(&(table, column)).cloned();
    if let Some((at, sample)) = known
        && at <= tx.now
        && tx.now < at.plus(LIFETIME)
    {
        return Ok(sample);
    }
    let sql = "SELECT unnest(CAST(CAST(histogram_bounds AS TEXT) AS TEXT[])) AS text FROM pg_stats \
               WHERE schemaname = current_schema() AND tablename = $1 AND attname = $2";
    let binds = [table, column].map(|name| Bind::Word(name.to_owned()));
    let found: Vec<SampleText> = rows(tx, sql, &binds)?;
    let sample: Arc<[String]> = found.into_iter().map(|seen| seen.text.to_lowercase()).collect();
    let mut samples = SAMPLES.lock().unwrap_or_else(PoisonError::into_inner);
    samples.insert((table, column), (tx.now, Arc::clone(&sample)));
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_letters_and_digits_are_parts() {
        assert_eq!(parts("topic-4321"), ["topic", "4321"]);
        assert_eq!(parts("topic-77!"), ["topic", "-77!"]);
        assert_eq!(parts("a-größe"), ["", "größe"]);
        assert_eq!(parts("--"), [""; 0]);
    }

    #[test]
    fn a_long_word_is_asked_for_by_a_part_without_the_same_letters_again() {
        let asked = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            let Phrases { question, are_whole } = phrases(&words);
            (question, are_whole)
        };
        let (x, ya) = ("xX".repeat(100), "я".repeat(200));
        assert_eq!(asked(&[&x]), ("\"xXx\"".to_owned(), false));
        assert_eq!(asked(&[&ya]), ("\"яяя\"".to_owned(), false));
        assert_eq!(asked(&[&format!("{x}-4321-{x}")]).0, "\"XxX-4321-xX\"");
        assert_eq!(asked(&["banana", "a\"b"]), ("\"banana\" AND \"a\"\"b\"".to_owned(), true));
        assert!(asked(&["internationally", "cat", "cat"]).1);
        let many: Vec<String> = (100..300).map(|number| number.to_string()).collect();
        let many = phrases(&many);
        assert_eq!((many.question.matches(" AND ").count(), many.are_whole), (7, false));
        assert!(is_repetitive(&x) && !is_repetitive("internationally"));
    }

    #[test]
    fn letters_beyond_ascii_are_looked_for_in_each_case() {
        let asked = |word: &str| word_pattern(word);
        assert_eq!(asked("-7_!"), ("LIKE", "%-7\\_!%".to_owned()));
        assert_eq!(asked("4321x"), ("ILIKE", "%4321x%".to_owned()));
        assert_eq!(asked("日本語"), ("LIKE", "%日本語%".to_owned()));
        assert_eq!(asked("жук"), ("~", "[жЖ][уУ][кК]".to_owned()));
        assert_eq!(asked("Ä.(b^"), ("~", "[Ää][.][(][bB]\\^".to_owned()));
        assert_eq!(asked("όσ"), ("~", "[όΌ][σΣς]".to_owned()));
    }

    #[test]
    fn the_part_is_taken_that_fewest_rows_have() {
        let sample = ["about topic-1", "about topic-2", "of 4321"].map(str::to_owned);
        let rarest = |parts| rarest_in(&sample, parts).map(|part| (part.text, part.seen));
        assert_eq!(rarest(&["topic", "-77"]), Some(("-77", 0)));
        assert_eq!(rarest(&["topic", "4321"]), Some(("4321", 1)));
        // Of two that none has, the longer one.
        assert_eq!(rarest(&["branch", "99999"]), Some(("branch", 0)));
        assert_eq!(rarest_in(&[], &["topic", "4321"]), None);
    }
}
