//! System notes of alerts.

use db::{CountOf, OneOf as _, Tx, each_backend, error, schema::alert_notes as notes};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{AlertId, AlertNoteId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::AlertStatus;

const NOUN: &str = "Note";

kernel::text_enum! {
    /// The change that a system note describes.
    pub enum NoteKind {
        /// A monitor told of it, or that it is over.
        Alert = "new_alert_added",
        Status = "status",
        Incident = "alert_issue_added",
        /// Somebody has or had to look after it.
        Assignees = "assignee",
        /// What somebody says of it.
        Comment = "comment",
    }
}

impl NoteKind {
    /// Whether the installation wrote it, as opposed to a person.
    pub fn is_system(self) -> bool {
        self != Self::Comment
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = notes, check_for_backend(db::AnyBackend))]
pub struct AlertNote {
    pub id: AlertNoteId,
    pub alert_id: AlertId,
    /// `None` where the installation itself did it, and for somebody who is gone.
    pub author_id: Option<UserId>,
    pub kind: NoteKind,
    pub body: String,
    pub created_at: Ts,
}

/// A fact that becomes a note.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fact<'f> {
    /// The name of the tool that told.
    Triggered(&'f str),
    Recovered(&'f str),
    Status(AlertStatus),
    /// The number of the incident in its project.
    Incident(i64),
    /// The alert is resolved, since somebody closed its incident.
    IncidentClosed {
        iid: i64,
        by: &'f str,
    },
    /// The names of people.
    Assignees {
        added: &'f [String],
        removed: &'f [String],
    },
    /// What somebody said.
    Comment(&'f str),
}

impl Fact<'_> {
    fn kind(self) -> NoteKind {
        match self {
            Self::Triggered(_) | Self::Recovered(_) => NoteKind::Alert,
            Self::Status(_) | Self::IncidentClosed { .. } => NoteKind::Status,
            Self::Incident(_) => NoteKind::Incident,
            Self::Assignees { .. } => NoteKind::Assignees,
            Self::Comment(_) => NoteKind::Comment,
        }
    }

    fn body(self) -> String {
        match self {
            Self::Triggered(tool) => format!("logged an alert from **{}**", one_line(tool)),
            Self::Recovered(tool) => format!("logged a recovery alert from **{}**", one_line(tool)),
            Self::Status(status) => format!("changed the status to **{}**", title(status)),
            Self::Incident(iid) => format!("created incident #{iid} for this alert"),
            Self::IncidentClosed { iid, by } => {
                let status = title(AlertStatus::Resolved);
                format!("changed the status to **{status}** because @{by} closed incident #{iid}")
            }
            Self::Assignees { added, removed } => {
                let parts = [("assigned to", added), ("unassigned", removed)];
                let parts = parts.into_iter().filter(|(_, people)| !people.is_empty());
                let parts: Vec<String> =
                    parts.map(|(verb, people)| format!("{verb} {}", mentions(people))).collect();
                parts.join(" and ")
            }
            Self::Comment(text) => text.to_owned(),
        }
    }
}

/// As in `@ada, @bob`.
fn mentions(people: &[String]) -> String {
    people.iter().map(|name| format!("@{name}")).collect::<Vec<_>>().join(", ")
}

fn title(status: AlertStatus) -> &'static str {
    match status {
        AlertStatus::Triggered => "Triggered",
        AlertStatus::Acknowledged => "Acknowledged",
        AlertStatus::Resolved => "Resolved",
        AlertStatus::Ignored => "Ignored",
    }
}

/// The name comes from outside: it must not begin a paragraph of its own.
fn one_line(text: &str) -> String {
    text.replace(|sign: char| sign.is_control(), " ")
}

pub trait NoteStore {
    /// A page, newest first.
    fn alert_notes(&mut self, alert: AlertId, page: PageRequest) -> Result<Page<AlertNote>>;
    /// The notes of these alerts, the oldest first; of a very long history, its beginning.
    fn notes_of_alerts(&mut self, alerts: &[AlertId]) -> Result<Vec<AlertNote>>;
    /// The note that was written last.
    fn newest_alert_note(&mut self, alert: AlertId) -> Result<Option<AlertNote>>;
}

/// Notes of alerts that are read for one request.
const NOTES_AT_ONCE: i64 = 10_000;

impl NoteStore for Tx<'_> {
    fn alert_notes(&mut self, alert: AlertId, page: PageRequest) -> Result<Page<AlertNote>> {
        let chosen = || notes::table.filter(notes::alert_id.eq(alert));
        each_backend!(self, |conn| {
            let items = chosen()
                .order(notes::id.desc())
                .limit(page.per_page)
                .offset(page.offset())
                .select(AlertNote::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(chosen().select(notes::id).limit(COUNT_LIMIT + 1));
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn notes_of_alerts(&mut self, alerts: &[AlertId]) -> Result<Vec<AlertNote>> {
        if alerts.is_empty() {
            return Ok(Vec::new());
        }
        each_backend!(self, |conn| notes::table
            .filter(notes::alert_id.one_of(alerts))
            .order(notes::id)
            .limit(NOTES_AT_ONCE)
            .select(AlertNote::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn newest_alert_note(&mut self, alert: AlertId) -> Result<Option<AlertNote>> {
        each_backend!(self, |conn| notes::table
            .filter(notes::alert_id.eq(alert))
            .order(notes::id.desc())
            .select(AlertNote::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }
}

/// Writes facts down, in their order. `None` is the installation itself.
pub(super) fn note(
    tx: &mut Tx<'_>,
    alert: AlertId,
    author: Option<UserId>,
    facts: &[Fact<'_>],
) -> Result<()> {
    let now = tx.now;
    let row = |fact: &Fact<'_>| {
        (
            notes::alert_id.eq(alert),
            notes::author_id.eq(author),
            notes::kind.eq(fact.kind()),
            notes::body.eq(fact.body()),
            notes::created_at.eq(now),
        )
    };
    for row in facts.iter().map(row) {
        let insert = diesel::insert_into(notes::table).values(row);
        each_backend!(tx, |conn| insert.execute(conn).map_err(error(NOUN)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Fact;
    use crate::alert::AlertStatus;

    fn people<const N: usize>(names: [&str; N]) -> Vec<String> {
        names.map(str::to_owned).into()
    }

    #[test]
    fn each_fact_has_its_sentence() {
        let all = [
            Fact::Triggered("nagios"),
            Fact::Recovered("odd\n# tool"),
            Fact::Status(AlertStatus::Acknowledged),
            Fact::Incident(7),
            Fact::IncidentClosed { iid: 7, by: "ada" },
            Fact::Assignees { added: &people(["ada", "bob"]), removed: &people(["eve"]) },
            Fact::Comment("On it."),
        ];
        let told: Vec<_> = all.map(|fact| (fact.kind().to_string(), fact.body())).into();
        insta::assert_debug_snapshot!(told, @r#"
        [
            (
                "new_alert_added",
                "logged an alert from **nagios**",
            ),
            (
                "new_alert_added",
                "logged a recovery alert from **odd # tool**",
            ),
            (
                "status",
                "changed the status to **Acknowledged**",
            ),
            (
                "alert_issue_added",
                "created incident #7 for this alert",
            ),
            (
                "status",
                "changed the status to **Resolved** because @ada closed incident #7",
            ),
            (
                "assignee",
                "assigned to @ada, @bob and unassigned @eve",
            ),
            (
                "comment",
                "On it.",
            ),
        ]
        "#);
    }
}
