//! Alerts are given to people, moved on, and tied to incidents.

use std::sync::Arc;

use forge::{
    alert::{GrantIncidents, Incidents},
    ports::security::Directory,
};
use graphql::{Arguments, Failure, Payload, Registry};
use kernel::{Error, Result as KernelResult, ids::IssueId};
use review::{
    issue::actions as issues,
    item::{ItemId, ItemKind},
    policy::{CreateIssues, ManageIssues},
};
use security::{
    alert::{Alert, AlertStatus, AlertStore as _, actions, assignee::assign},
    policy::{ChangeAlerts, ReadAlerts},
};

use super::{alerts::incident, record::alert};
use crate::{
    context::Context,
    failure::{done, failure_of},
    operation_mode::PeopleChange,
    pipelines::{LocatedProject, located_project, value_of},
    review::todos,
};

/// References to alerts that one call ties to an issue.
const REFERENCE_LIMIT: usize = 100;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation("updateAlertStatus", |input, context| async move {
        set_status(&input, &context).await
    });
    registry.mutation("createAlertIssue", |input, context| async move {
        create_issue(&input, &context).await
    });
    registry.mutation("alertSetAssignees", |input, context| async move {
        set_assignees(&input, &context).await
    });
    registry.mutation("alertTodoCreate", |input, context| async move {
        create_todo(&input, &context).await
    });
    registry
        .mutation("issueLinkAlerts", |input, context| async move { link(&input, &context).await });
    registry.mutation("issueUnlinkAlert", |input, context| async move {
        unlink(&input, &context).await
    });
}

/// The project of an alert that a mutation names, and the number of the alert.
async fn named(
    input: &Arguments,
    context: &Context,
) -> Result<(Arc<LocatedProject>, i64), Failure> {
    let home = located_project::at(context, input.text("projectPath")?).await?;
    let iid = input.text("iid")?.parse().map_err(|_cause| Failure::NotFoundOrForbidden)?;
    Ok((home, iid))
}

async fn payload(
    context: &Context,
    home: Arc<LocatedProject>,
    written: KernelResult<Alert>,
) -> Result<Payload, Failure> {
    Ok(match done(written)? {
        Ok(row) => {
            let issue = incident(context, row.issue_id).await?;
            Payload::new().field("issue", issue).field("alert", alert(home, row))
        }
        Err(errors) => Payload::errors(errors),
    })
}

fn incidents(context: &Context) -> Incidents {
    Incidents { urls: context.forge.urls.clone(), template: None }
}

async fn set_status(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (home, iid) = named(input, context).await?;
    let grant = home.grant::<ChangeAlerts>().map_err(failure_of)?;
    let Some(status) = value_of::<AlertStatus>(input.maybe_enum("status")) else {
        return payload(context, home, Err(Error::invalid("status", "is invalid"))).await;
    };
    let incidents = incidents(context);
    let written = context
        .forge
        .db
        .write(move |tx| actions::set_status(tx, &grant, &incidents, iid, status))
        .await;
    payload(context, home, written).await
}

async fn create_issue(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (home, iid) = named(input, context).await?;
    let grant = home.grant::<ChangeAlerts>().map_err(failure_of)?;
    let opener = home.grant::<CreateIssues>().map_err(failure_of)?;
    let incidents = GrantIncidents { incidents: incidents(context), grant: opener };
    let written = context
        .forge
        .db
        .write(move |tx| actions::create_incident(tx, &grant, &incidents, iid))
        .await;
    payload(context, home, written).await
}

/// What people are asked to look at are issues, merge requests and epics: of an alert it is the incident.
async fn create_todo(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (home, iid) = named(input, context).await?;
    home.grant::<ChangeAlerts>().map_err(failure_of)?;
    let grant = home.grant::<ReadAlerts>().map_err(failure_of)?;
    let found = context.forge.db.read(move |tx| actions::read(tx, &grant, iid)).await;
    let row = found.map_err(failure_of)?;
    let Some(issue) = row.issue_id else {
        let failure = "The alert has no incident yet: create one first".to_owned();
        return Ok(Payload::errors(vec![failure]).field("alert", alert(home, row)));
    };
    let todo = todos::ask(context, ItemId { kind: ItemKind::Issue, id: issue.0 }).await?;
    let issue = incident(context, Some(issue)).await?;
    Ok(Payload::new().field("alert", alert(home, row)).field("issue", issue).field("todo", todo))
}

async fn set_assignees(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (home, iid) = named(input, context).await?;
    let grant = home.grant::<ChangeAlerts>().map_err(failure_of)?;
    let wanted = PeopleChange::read(input, "assigneeUsernames");
    let written = context.forge.db.write(move |tx| {
        assign(tx, &grant, &Directory, iid, |tx, before| wanted.apply(tx, before))
    });
    payload(context, home, written.await).await
}

/// The number of an alert of this project, written as `^alert#5`, with or without the project's path, or as the
/// address of its page.
fn number_in(reference: &str, path: &str) -> Option<i64> {
    if let Some((project, number)) = reference.split_once("^alert#") {
        let own = project.is_empty() || project.eq_ignore_ascii_case(path);
        return own.then(|| number.parse().ok()).flatten();
    }
    let (project, rest) = reference.split_once("/-/alert_management/")?;
    let own = project.to_lowercase().ends_with(&format!("/{}", path.to_lowercase()));
    let number = rest.split(['/', '?', '#']).next().unwrap_or_default();
    own.then(|| number.parse().ok()).flatten()
}

async fn link(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (home, iid) = named(input, context).await?;
    let references = input.texts("alertReferences");
    if references.len() > REFERENCE_LIMIT {
        return Err(Failure::message("Too many alert references"));
    }
    let path = &home.facts().full_path;
    let numbers: Option<Vec<i64>> =
        references.iter().map(|reference| number_in(reference, path)).collect();
    tie(context, &home, iid, numbers, true).await
}

async fn unlink(input: &Arguments, context: &Context) -> Result<Payload, Failure> {
    let (home, iid) = named(input, context).await?;
    let id = input.gid("alertId", &["AlertManagement::Alert"])?;
    let found = context.forge.db.read(move |tx| tx.alert_by_id(kernel::ids::AlertId(id))).await;
    let row = found.map_err(failure_of)?.filter(|row| row.project_id == home.id());
    tie(context, &home, iid, row.map(|row| vec![row.iid]), false).await
}

/// Ties alerts to an issue, all or none, or unties them.
async fn tie(
    context: &Context,
    home: &LocatedProject,
    iid: i64,
    alerts: Option<Vec<i64>>,
    linked: bool,
) -> Result<Payload, Failure> {
    let manages = home.grant::<ManageIssues>().map_err(failure_of)?;
    let grant = home.grant::<ChangeAlerts>().map_err(failure_of)?;
    let Some(alerts) = alerts else {
        return Ok(Payload::errors(vec!["Alert not found".to_owned()]));
    };
    let written: KernelResult<IssueId> = context
        .forge
        .db
        .write(move |tx| {
            let issue = issues::read(tx, manages.who(), manages.project(), iid)?.id;
            for alert in alerts {
                actions::set_issue(tx, &grant, alert, issue, linked)?;
            }
            Ok(issue)
        })
        .await;
    Ok(match done(written)? {
        Ok(issue) => Payload::new().field("issue", incident(context, Some(issue)).await?),
        Err(errors) => Payload::errors(errors),
    })
}

#[cfg(test)]
mod tests {
    use super::number_in;

    #[test]
    fn alerts_are_named_by_number_or_address() {
        let number = |reference: &str| number_in(reference, "group/project");
        assert_eq!(number("^alert#5"), Some(5));
        assert_eq!(number("Group/Project^alert#5"), Some(5));
        assert_eq!(number("https://x/group/project/-/alert_management/5/details"), Some(5));
        for other in ["5", "^alert#x", "a/b^alert#5", "https://x/a/b/-/alert_management/5"] {
            assert_eq!(number(other), None, "{other}");
        }
    }
}
