//! Incidents for alerts, and letters about them.

use db::Tx;
use deployments::environment::EnvironmentStore as _;
use kernel::{
    AccessLevel::Maintainer,
    Actor, Error, Grant, Result,
    ids::{EnvironmentId, IssueId, ProjectId},
};
use org::{
    access::{IdOrPath, locate_project, standings::people_in_project},
    mail::{self, Letter},
    project::store::ProjectStore as _,
    user::{State, internal::alert_bot, store::UserStore as _},
};
use review::{
    issue::{
        IssueStore as _, IssueType, Severity,
        actions::{NewIssue, close, create},
    },
    item::labels::LabelChange,
    policy::CreateIssues,
};
use security::{
    alert::{Alert, AlertSeverity, actions::incident_closed},
    ports::{self, Incident},
};

use crate::{
    ports::{review::OrgHierarchy, security::Directory},
    urls::Urls,
};

/// What every such issue is labelled with.
const LABEL: &str = "incident";
/// Letters about one alert.
const LETTERS: i64 = 100;

/// Issues of `review`, environments of `deployments`, and people of `org`.
#[derive(Clone, Debug)]
pub struct Incidents {
    pub urls: Urls,
    /// With what the text of an incident ends.
    pub template: Option<String>,
}

/// Between the parts of the text of an incident.
const LINE: &str = "\n\n---\n\n";

/// However it was closed, an incident that is closed resolves its alerts.
pub(crate) fn follow(tx: &mut Tx<'_>, fact: &review::Event) -> Result<()> {
    let review::Event::IssueClosed { issue, user } = fact else { return Ok(()) };
    incident_closed(tx, &Directory, Incident { id: issue.id, iid: issue.iid }, *user)
}

/// How bad an incident is of which an alert tells. What only informs has no counterpart.
fn severity_of(alert: AlertSeverity) -> Severity {
    match alert {
        AlertSeverity::Critical => Severity::Critical,
        AlertSeverity::High => Severity::High,
        AlertSeverity::Medium => Severity::Medium,
        AlertSeverity::Low => Severity::Low,
        AlertSeverity::Info | AlertSeverity::Unknown => Severity::Unknown,
    }
}

impl Incidents {
    /// Opens an incident of somebody's who may create issues in the project.
    fn open_by(
        &self,
        tx: &mut Tx<'_>,
        grant: &Grant<CreateIssues>,
        alert: &Alert,
        description: String,
    ) -> Result<Incident> {
        let new = NewIssue {
            title: alert.title.clone(),
            description: Some(match &self.template {
                Some(template) => format!("{}{LINE}{template}", description.trim_end()),
                None => description,
            }),
            issue_type: Some(IssueType::Incident),
            severity: Some(severity_of(alert.severity)),
            labels: LabelChange { add: vec![LABEL.to_owned()], ..LabelChange::default() },
            ..NewIssue::default()
        };
        let issue = create(tx, grant, &OrgHierarchy, new)?;
        Ok(Incident { id: issue.id, iid: issue.iid })
    }
}

/// As [`Incidents`], with incidents opened by the user of a grant.
#[derive(Clone, Debug)]
pub struct GrantIncidents {
    pub incidents: Incidents,
    pub grant: Grant<CreateIssues>,
}

impl ports::Incidents for GrantIncidents {
    fn open(
        &self,
        tx: &mut Tx<'_>,
        alert: &Alert,
        description: String,
    ) -> Result<Option<Incident>> {
        self.incidents.open_by(tx, &self.grant, alert, description).map(Some)
    }

    fn close(&self, tx: &mut Tx<'_>, issue: IssueId) -> Result<()> {
        ports::Incidents::close(&self.incidents, tx, issue)
    }

    fn tell(&self, tx: &mut Tx<'_>, alert: &Alert) -> Result<()> {
        ports::Incidents::tell(&self.incidents, tx, alert)
    }
}

impl ports::Environments for Incidents {
    fn named(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        name: &str,
    ) -> Result<Option<EnvironmentId>> {
        Ok(tx.environment_named(project, name)?.map(|environment| environment.id))
    }
}

impl ports::Incidents for Incidents {
    fn open(
        &self,
        tx: &mut Tx<'_>,
        alert: &Alert,
        description: String,
    ) -> Result<Option<Incident>> {
        let bot = alert_bot(tx)?;
        // The project lets it in by its settings.
        let actor = Actor { admin: true, ..bot.actor() };
        let (scope, who) = locate_project(tx, actor, &IdOrPath::Id(alert.project_id.0))?;
        let Ok(grant) = Grant::<CreateIssues>::check(&who, scope) else { return Ok(None) };
        self.open_by(tx, &grant, alert, description).map(Some)
    }

    fn close(&self, tx: &mut Tx<'_>, issue: IssueId) -> Result<()> {
        let Some(issue) = tx.find_issue_by_id(issue)? else { return Ok(()) };
        let bot = alert_bot(tx)?;
        close(tx, &issue, bot.id).map(drop)
    }

    fn tell(&self, tx: &mut Tx<'_>, alert: &Alert) -> Result<()> {
        let project =
            tx.find_project(alert.project_id)?.ok_or_else(|| Error::not_found("Project"))?;
        let keepers = people_in_project(tx, project.id, Maintainer, LETTERS)?;
        for user in tx.users_by_id(&keepers)?.into_values() {
            if user.state != State::Active || !user.is_person() {
                continue;
            }
            let text = format!(
                "Hello {},\n\nan alert was triggered in {}:\n\n  {}\n\nSeverity: {}\nProject: {}\n",
                user.name,
                project.full_path,
                alert.title,
                alert.severity,
                self.urls.at(&project.full_path),
            );
            let subject = format!("{} | Alert: {}", project.name, alert.title);
            mail::send(tx, Letter { to: user.email, subject, text })?;
        }
        Ok(())
    }
}
