//! Item filters as SQL on a row `i` of their table.

use db::listing::{Bind, list_of, value};
use kernel::{AccessLevel, Actor, Ts, ids::UserId};

use super::{
    milestone_choice::{MilestoneChoice, milestones},
    part::Part,
    query::ListScope,
};
use crate::item::ItemKind;

/// Something that items have or lack, or have in a certain way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice<T> {
    Nothing,
    Anything,
    These(T),
}

/// Words, all of which one of the columns has.
#[derive(Clone, Debug)]
pub(super) struct WordSearch {
    pub columns: &'static [&'static str],
    pub words: Vec<String>,
}

/// A filter in two forms: as the set of IDs that match, from which a search can start, and as a condition on one row.
#[derive(Clone, Debug)]
pub struct IndexedFilter {
    pub set: Part,
    pub check: Part,
    /// The column of the set that names the project, when an index covers filter and project together.
    pub project: Option<&'static str>,
    /// Whether the set has items of the list's project alone.
    pub is_of_project: bool,
    /// Whether the set can contain an item twice.
    pub repeats: bool,
    /// The label of a label filter.
    pub label: Option<String>,
    /// The milestones of a milestone filter, as a condition on rows `m`.
    pub milestones: Option<Part>,
}

impl IndexedFilter {
    pub fn new(set: Part, check: Part) -> Self {
        Self {
            set,
            check,
            project: None,
            is_of_project: false,
            repeats: false,
            label: None,
            milestones: None,
        }
    }

    /// Items of a kind that have one of these labels.
    pub(super) fn of_labels(kind: ItemKind, labels: &[i64]) -> Self {
        let filter = Self::beside(kind, "item_labels", "label_id", &list_of(labels), &[]);
        Self { repeats: labels.len() > 1, ..filter }
    }

    /// Items that are in one of these milestones.
    pub(super) fn of_milestones(table: &str, milestones: &[i64]) -> Self {
        let these = list_of(milestones);
        let set =
            format!("SELECT y.id AS item_id FROM {table} y WHERE y.milestone_id IN ({these})");
        let check = format!("i.milestone_id IN ({these})");
        Self { project: Some("y.project_id"), ..Self::new(Part::new(set), Part::new(check)) }
    }

    /// Items of a kind for which a table has a row with one of these values in a column.
    fn beside(kind: ItemKind, table: &str, column: &str, these: &str, binds: &[Bind]) -> Self {
        let set = format!(
            "SELECT x.item_id FROM {table} x WHERE x.item_kind = '{kind}' AND x.{column} IN ({these})"
        );
        // The unary plus makes SQLite read the rows of one item instead of probing for each label; the offset keeps
        // PostgreSQL from joining everything first.
        let check = format!(
            "EXISTS (SELECT 1 FROM {table} x WHERE x.item_kind = '{kind}' AND x.item_id = i.id \
             AND +x.{column} IN ({these}) LIMIT 1 OFFSET 0)"
        );
        let part = |sql| Part::with(sql, binds.to_vec());
        Self { project: Some("x.project_id"), ..Self::new(part(set), part(check)) }
    }

    /// The set, restricted to the project of the scope when an index covers it.
    pub(super) fn within(&self, scope: &ListScope, binds: &mut Vec<Bind>) -> String {
        let set = self.set.render(binds);
        match (self.project, scope) {
            (Some(column), ListScope::Project(project)) if !self.is_of_project => {
                format!("{set} AND {column} = {}", value(project))
            }
            _ => set,
        }
    }
}

/// The filters of a list.
#[derive(Clone, Debug)]
pub struct Conditions {
    pub(super) kind: ItemKind,
    pub(super) plain: Vec<Part>,
    pub(super) indexed: Vec<IndexedFilter>,
    /// What PostgreSQL looks for; how is said when the list is read.
    pub(super) words: Vec<WordSearch>,
}

impl Conditions {
    pub fn of(kind: ItemKind) -> Self {
        Self { kind, plain: Vec::new(), indexed: Vec::new(), words: Vec::new() }
    }

    /// The table of the items.
    pub(super) fn table(&self) -> &'static str {
        table_of(self.kind)
    }

    /// Whether words are looked for that are not found in the order of a list.
    pub(super) fn is_searched(&self) -> bool {
        !self.words.is_empty()
    }

    pub fn plain(&mut self, sql: impl Into<String>) {
        self.plain.push(Part::new(sql));
    }

    pub fn part(&mut self, part: Part) {
        self.plain.push(part);
    }

    pub fn indexed_filter(&mut self, filter: IndexedFilter) {
        self.indexed.push(filter);
    }

    /// A condition about one value, for which `{}` stands.
    pub fn word(&mut self, sql: &str, word: &str) {
        self.plain.push(Part::with(sql, vec![Bind::Word(word.to_owned())]));
    }

    /// A column with one of few values, that an index leads to.
    pub fn column(&mut self, column: &str, id: i64) {
        let set = format!("SELECT y.id FROM {} y WHERE y.{column} = {}", self.table(), value(id));
        let check = format!("i.{column} = {}", value(id));
        self.indexed.push(IndexedFilter::new(Part::new(set), Part::new(check)));
    }

    pub fn written_by(&mut self, author: UserId) {
        self.column("author_id", author.0);
    }

    /// By one of these people; by anybody where there are none.
    pub fn written_by_one_of(&mut self, authors: &[UserId]) {
        if !authors.is_empty() {
            let ids: Vec<i64> = authors.iter().map(|author| author.0).collect();
            self.plain(format!("i.author_id IN ({})", list_of(&ids)));
        }
    }

    /// Given to one of these people; to anybody or nobody where there are none.
    pub fn assigned_to_one_of(&mut self, people: &[UserId]) {
        if !people.is_empty() {
            let ids: Vec<i64> = people.iter().map(|person| person.0).collect();
            let further = format!(" AND x.user_id IN ({})", list_of(&ids));
            self.whether(true, "item_assignees", &further, Vec::new());
        }
    }

    /// With one of these labels; with any or none where there are none.
    pub fn labelled_with_one_of(&mut self, names: &[String]) {
        if !names.is_empty() {
            let (further, binds) = labels_named(names);
            self.whether(true, "item_labels", &further, binds);
        }
    }

    /// Whether there are such rows of a table about items.
    fn whether(&mut self, is: bool, table: &str, further: &str, binds: Vec<Bind>) {
        let kind = self.kind;
        let not = if is { "" } else { "NOT " };
        let sql = format!(
            "{not}EXISTS (SELECT 1 FROM {table} x WHERE x.item_kind = '{kind}' AND x.item_id = i.id{further})"
        );
        self.plain.push(Part::with(sql, binds));
    }

    /// Given to each of these people.
    pub fn assigned(&mut self, choice: &Choice<Vec<UserId>>) {
        self.people("item_assignees", choice);
    }

    pub fn not_assigned(&mut self, choice: &Choice<Vec<UserId>>) {
        self.not_people("item_assignees", choice);
    }

    /// As [`assigned`](Self::assigned), for people of another table about items.
    pub fn people(&mut self, table: &str, choice: &Choice<Vec<UserId>>) {
        match choice {
            Choice::Nothing => self.whether(false, table, "", Vec::new()),
            Choice::Anything => self.whether(true, table, "", Vec::new()),
            Choice::These(people) => {
                for person in people {
                    let person = value(person);
                    self.indexed.push(IndexedFilter::beside(
                        self.kind,
                        table,
                        "user_id",
                        &person,
                        &[],
                    ));
                }
            }
        }
    }

    pub fn not_people(&mut self, table: &str, choice: &Choice<Vec<UserId>>) {
        match choice {
            Choice::Nothing => self.whether(true, table, "", Vec::new()),
            Choice::Anything => self.whether(false, table, "", Vec::new()),
            Choice::These(people) => {
                let ids: Vec<i64> = people.iter().map(|person| person.0).collect();
                let further = format!(" AND x.user_id IN ({})", list_of(&ids));
                self.whether(false, table, &further, Vec::new());
            }
        }
    }

    /// With every one of these labels.
    pub fn labelled(&mut self, choice: &Choice<Vec<String>>) {
        match choice {
            Choice::Nothing => self.whether(false, "item_labels", "", Vec::new()),
            Choice::Anything => self.whether(true, "item_labels", "", Vec::new()),
            Choice::These(names) => {
                for name in names {
                    let filter = IndexedFilter::beside(
                        self.kind,
                        "item_labels",
                        "label_id",
                        "SELECT l.id FROM labels l WHERE l.name = {}",
                        &[Bind::Word(name.clone())],
                    );
                    let label = Some(name.clone());
                    self.indexed.push(IndexedFilter { repeats: true, label, ..filter });
                }
            }
        }
    }

    /// With this very label, whatever others have its name.
    pub(crate) fn labelled_with_id(&mut self, label: i64) {
        self.indexed.push(IndexedFilter::of_labels(self.kind, &[label]));
    }

    /// With none of these very labels.
    pub(crate) fn labelled_with_none_of(&mut self, labels: &[i64]) {
        if !labels.is_empty() {
            let further = format!(" AND +x.label_id IN ({})", list_of(labels));
            self.whether(false, "item_labels", &further, Vec::new());
        }
    }

    /// With none of these labels.
    pub fn not_labelled(&mut self, names: &[String]) {
        if names.is_empty() {
            return;
        }
        let (further, binds) = labels_named(names);
        self.whether(false, "item_labels", &further, binds);
    }

    /// What somebody reacted to; nobody did to nothing.
    pub fn reacted(&mut self, user: Option<UserId>, choice: &Choice<String>) {
        let Some(user) = user else { return self.nothing() };
        let theirs = format!(" AND x.user_id = {}", value(user));
        match choice {
            Choice::Nothing => self.whether(false, "award_emoji", &theirs, Vec::new()),
            Choice::Anything => self.whether(true, "award_emoji", &theirs, Vec::new()),
            Choice::These(name) => {
                let kind = self.kind;
                let theirs = format!(
                    "FROM award_emoji x WHERE x.item_kind = '{kind}' AND x.user_id = {} AND x.name = {{}}",
                    value(user)
                );
                let part = |sql| Part::with(sql, vec![Bind::Word(name.clone())]);
                let set = part(format!("SELECT x.item_id {theirs}"));
                let check = part(format!("EXISTS (SELECT 1 {theirs} AND x.item_id = i.id)"));
                self.indexed.push(IndexedFilter::new(set, check));
            }
        }
    }

    /// What somebody did not react to so.
    pub fn not_reacted(&mut self, user: Option<UserId>, name: &str) {
        let Some(user) = user else { return };
        let theirs = format!(" AND x.user_id = {} AND x.name = {{}}", value(user));
        self.whether(false, "award_emoji", &theirs, vec![Bind::Word(name.to_owned())]);
    }

    pub fn milestone(&mut self, choice: &Choice<MilestoneChoice>, today: Ts) {
        match choice {
            Choice::Nothing => self.plain("i.milestone_id IS NULL"),
            Choice::Anything => self.plain("i.milestone_id IS NOT NULL"),
            Choice::These(which) => {
                let Part { sql, binds } = milestones(which, today);
                let set =
                    format!("SELECT y.id FROM {} y WHERE y.milestone_id IN ({sql})", self.table());
                let check = format!("i.milestone_id IN ({sql})");
                let set = Part::with(set, binds.clone());
                let milestones = match which {
                    MilestoneChoice::OneOf(_) => None,
                    _ => Some(Part::with(sql, binds.clone())),
                };
                let filter = IndexedFilter::new(set, Part::with(check, binds));
                self.indexed.push(IndexedFilter { milestones, ..filter });
            }
        }
    }

    /// Not in these milestones: what is in none is kept.
    pub fn not_milestone(&mut self, choice: &Choice<MilestoneChoice>, today: Ts) {
        match choice {
            Choice::Nothing => self.plain("i.milestone_id IS NOT NULL"),
            Choice::Anything => self.plain("i.milestone_id IS NULL"),
            // These two say what is wanted instead.
            Choice::These(which @ (MilestoneChoice::Ended | MilestoneChoice::Ahead)) => {
                self.milestone(&Choice::These(which.clone()), today);
            }
            Choice::These(which) => {
                let Part { sql, binds } = milestones(which, today);
                let sql = format!("(i.milestone_id IS NULL OR i.milestone_id NOT IN ({sql}))");
                self.plain.push(Part::with(sql, binds));
            }
        }
    }

    /// A moment within these, both included; `before` until the [end of it](Ts::end_of_shown).
    pub fn between(&mut self, column: &str, after: Option<Ts>, before: Option<Ts>) {
        if let Some(after) = after {
            self.plain(format!("i.{column} >= {}", value(after.0)));
        }
        if let Some(before) = before {
            self.plain(format!("i.{column} <= {}", value(before.end_of_shown().0)));
        }
    }

    pub fn numbered(&mut self, iids: &[i64]) {
        self.plain(format!("i.iid IN ({})", list_of(iids)));
    }

    /// Nothing fits.
    pub fn nothing(&mut self) {
        self.plain("1 = 0");
    }
}

pub(super) fn table_of(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Issue => "issues",
        ItemKind::MergeRequest => "merge_requests",
        ItemKind::Epic => "epics",
    }
}

/// Confidential issues are for their authors, for whom they are given to, and, where roles differ from one issue to
/// the next, for whoever is a reporter at this moment.
pub fn confidential_for(actor: Actor, roles: Option<Ts>) -> String {
    let Some(user) = actor.id.map(value) else { return "NOT i.confidential".to_owned() };
    let assigned = format!(
        "EXISTS (SELECT 1 FROM item_assignees x WHERE x.item_kind = 'Issue' AND x.item_id = i.id AND x.user_id = {user})"
    );
    let reporter = roles.map_or_else(String::new, |now| {
        let level = AccessLevel::Reporter.number();
        // Roles end at midnight: the minute is as good as the moment, and the question stays the same for longer.
        let minute = value(now.0 - now.0.rem_euclid(60_000_000));
        format!(
            " OR EXISTS (SELECT 1 FROM project_access a WHERE a.user_id = {user} \
             AND a.project_id = i.project_id AND a.access_level >= {level} AND a.until > {minute})"
        )
    });
    format!("(NOT i.confidential OR i.author_id = {user} OR {assigned}{reporter})")
}

/// A condition on the label of a row `x`, and its values.
fn labels_named(names: &[String]) -> (String, Vec<Bind>) {
    let places = vec!["{}"; names.len()].join(", ");
    let sql = format!(" AND +x.label_id IN (SELECT l.id FROM labels l WHERE l.name IN ({places}))");
    (sql, names.iter().cloned().map(Bind::Word).collect())
}
