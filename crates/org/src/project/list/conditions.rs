//! Conditions on projects, written as SQL together with the values that they speak of.

use crate::{listing::Bind, search::containing};

/// Conditions, and the values that they speak of.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions {
    pub(super) sql: Vec<String>,
    pub(super) binds: Vec<Bind>,
    /// What SQLite's index of texts is asked: it is walked in an order of its own.
    pub(super) indexed: Option<IndexCondition>,
    /// The tree of a group, where the first conditions are that something is in there.
    pub(super) tree: Option<CountedTree>,
    /// Whether the matches are put in order, instead of looked for in a walk through all projects.
    pub(super) gathered: bool,
}

/// The number of projects in the tree of a group.
#[derive(Clone, Debug)]
pub(super) struct CountedTree {
    /// What the paths of all begin with, in small letters.
    pub(super) path: String,
    pub(super) total: i64,
}

/// So many conditions say that a project is there, and in a tree.
const IN_TREE: usize = 2;

/// A question to the index of texts, and the same as a condition on each row.
#[derive(Clone, Debug)]
pub(super) struct IndexCondition {
    pub(super) question: String,
    pub(super) words: Vec<String>,
    pub(super) columns: [&'static str; 3],
}

impl Conditions {
    /// Adds a condition in which `{}` stands for the value.
    pub(super) fn with(&mut self, condition: &str, value: Bind) {
        self.binds.push(value);
        let place = format!("${}", self.binds.len());
        self.sql.push(condition.replace("{}", &place));
    }

    pub(super) fn number(&mut self, condition: &str, value: i64) {
        self.with(condition, Bind::Number(value));
    }

    pub(super) fn word(&mut self, condition: &str, value: impl Into<String>) {
        self.with(condition, Bind::Word(value.into()));
    }

    pub(super) fn plain(&mut self, condition: &str) {
        self.sql.push(condition.to_owned());
    }

    /// The tree, where everything in it is wanted and nothing else.
    pub(super) fn whole_tree(&self) -> Option<&CountedTree> {
        let is_all = self.sql.len() == IN_TREE && self.indexed.is_none();
        self.tree.as_ref().filter(|_| is_all)
    }

    /// `FROM` and `WHERE` for a walk by id.
    pub(super) fn by_id(&self) -> (String, Vec<Bind>) {
        match &self.indexed {
            None => self.plain_walk(),
            Some(indexed) => {
                let mut all = self.clone();
                all.word("projects_search MATCH {}", indexed.question.clone());
                // In this order and no other: the index of texts gives its rows by id.
                let from = "projects_search CROSS JOIN projects p ON p.id = projects_search.rowid";
                (format!("{from} WHERE {}", all.sql.join(" AND ")), all.binds)
            }
        }
    }

    /// `FROM` and `WHERE` for a walk in another order, to which the few that match are brought.
    pub(super) fn few_matches(&self, join: &str) -> (String, Vec<Bind>) {
        let mut all = self.clone();
        if let Some(indexed) = &self.indexed {
            let matching =
                "p.id IN (SELECT rowid FROM projects_search WHERE projects_search MATCH {})";
            all.word(matching, indexed.question.clone());
        }
        (format!("projects p{join} WHERE {}", all.sql.join(" AND ")), all.binds)
    }

    /// As [`few_matches`](Self::few_matches), where looking at each row in turn soon finds enough.
    pub(super) fn many_matches(&self, join: &str) -> (String, Vec<Bind>) {
        let mut all = self.clone();
        if let Some(indexed) = &self.indexed {
            all.contains(indexed);
        }
        (format!("projects p{join} WHERE {}", all.sql.join(" AND ")), all.binds)
    }

    fn plain_walk(&self) -> (String, Vec<Bind>) {
        (format!("projects p WHERE {}", self.sql.join(" AND ")), self.binds.clone())
    }

    fn contains(&mut self, indexed: &IndexCondition) {
        let first = self.binds.len() + 1;
        let last = first + indexed.words.len();
        // SQLite compares ASCII without regard to case by itself, and much faster than our function.
        let ascii = indexed.words.iter().all(|word| word.is_ascii());
        self.binds.extend(indexed.words.iter().map(|word| Bind::Word(containing(word))));
        let each = indexed.columns.map(|column| {
            let text = if ascii { format!("p.{column}") } else { format!("lower(p.{column})") };
            let words = (first..last).map(|place| format!("{text} LIKE ${place} ESCAPE '\\'"));
            format!("({})", words.collect::<Vec<_>>().join(" AND "))
        });
        self.plain(&format!("({})", each.join(" OR ")));
    }
}
