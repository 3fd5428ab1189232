//! The input of mutations of issues: what is to change, and labels by their ids.

use db::Tx;
use forge::ports::directory::Directory;
use graphql::{Arguments, Failure};
use kernel::{
    Result as Kept, TextEnum as _, Ts,
    ids::{LabelId, MilestoneId},
};
use review::{
    Home,
    epic::EpicName,
    issue::{IssueStep, IssueType, actions::IssueChange},
    item::labels::{LabelChange, usable_names},
};

use super::issue_filter::health;

/// Labels by their ids.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelIds {
    pub(super) all: Option<Vec<LabelId>>,
    pub(super) add: Vec<LabelId>,
    pub(super) remove: Vec<LabelId>,
}

impl LabelIds {
    pub(super) fn names(
        &self,
        tx: &mut Tx<'_>,
        directory: &Directory,
        home: Home,
    ) -> Kept<LabelChange> {
        let mut named = |ids: &[LabelId]| usable_names(tx, directory, home, ids);
        Ok(LabelChange {
            all: self.all.as_deref().map(&mut named).transpose()?,
            add: named(&self.add)?,
            remove: named(&self.remove)?,
        })
    }
}

pub(super) fn day(input: &Arguments, name: &str) -> Result<Option<Ts>, Failure> {
    let Some(text) = input.maybe_text(name) else { return Ok(None) };
    let date = kernel::time::parse_date(&text);
    let date =
        date.map_err(|_cause| Failure::message(format!("`{name}` must be a valid ISO8601Date")))?;
    Ok(Some(Ts::from_date(date)))
}

/// The type of an issue; of some there are none here.
pub(super) fn issue_type(input: &Arguments) -> Result<Option<IssueType>, Vec<String>> {
    match input.maybe_enum("type") {
        None => Ok(None),
        Some(name) => match IssueType::find(&name.to_lowercase()) {
            Some(found) => Ok(Some(found)),
            None => Err(vec!["Issue type is not allowed".to_owned()]),
        },
    }
}

const LABELS: &[&str] = &["Label", "ProjectLabel", "GroupLabel"];

pub(super) fn label_ids(input: &Arguments, name: &str) -> Result<Vec<LabelId>, Failure> {
    let read = |text: &String| match text.parse::<i64>() {
        Ok(number) => Ok(LabelId(number)),
        Err(_) => graphql::number_of(text, LABELS).map(LabelId),
    };
    input.texts(name).iter().map(read).collect()
}

/// What the input changes, beside the type and labels. What is given as null is taken away.
pub(super) fn given_change(input: &Arguments) -> Result<IssueChange, Failure> {
    let given = |name: &str| input.has(name);
    let milestone = match input.maybe_text("milestoneId") {
        Some(text) => Some(match text.parse::<i64>() {
            Ok(number) => number,
            Err(_) => graphql::number_of(&text, &["Milestone"])?,
        }),
        None => None,
    };
    Ok(IssueChange {
        title: input.maybe_text("title"),
        description: given("description").then(|| input.maybe_text("description")),
        step: match input.maybe_enum("stateEvent").as_deref() {
            Some("CLOSE") => Some(IssueStep::Close),
            Some("REOPEN") => Some(IssueStep::Reopen),
            _ => None,
        },
        confidential: input.maybe_bool("confidential"),
        discussion_locked: input.maybe_bool("locked"),
        milestone: given("milestoneId").then(|| milestone.map(MilestoneId)),
        epic: match given("epicId") {
            true => Some(input.maybe_gid("epicId", &["Epic"])?.map(EpicName::Id)),
            false => None,
        },
        weight: given("weight").then(|| input.maybe_int("weight")),
        health_status: given("healthStatus")
            .then(|| input.maybe_enum("healthStatus").as_deref().and_then(health)),
        due_date: match given("dueDate") {
            true => Some(day(input, "dueDate")?),
            false => None,
        },
        ..IssueChange::default()
    })
}
