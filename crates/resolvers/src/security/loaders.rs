//! Loaders of vulnerabilities and alerts.

use std::{collections::HashMap, sync::Arc};

use kernel::ids::{AlertId, IssueId, PipelineId, UserId, VulnerabilityId};
use review::issue::IssueStore as _;
use security::{
    alert::{Alert, AlertNote, AlertStore as _, AssigneeStore as _, NoteStore as _},
    scan::{Scan, ScanStore as _},
    vulnerability::{ChangeStore as _, StateChange, Vulnerability, VulnerabilityListStore as _},
};

use crate::{context::Context, loaders::BatchLoader};

/// The loaders of vulnerabilities and alerts.
pub(super) struct SecurityLoaders {
    /// Whether the caller may see them is not asked.
    pub vulnerabilities: BatchLoader<VulnerabilityId, Arc<Vulnerability>>,
    /// What people said of a vulnerability, the oldest first.
    pub changes: BatchLoader<VulnerabilityId, Arc<Vec<StateChange>>>,
    /// Who looks after an alert.
    pub alert_assignees: BatchLoader<AlertId, Arc<Vec<UserId>>>,
    /// What happened to an alert, the oldest first.
    pub alert_notes: BatchLoader<AlertId, Arc<Vec<AlertNote>>>,
    /// The reports of a pipeline, the oldest first.
    pub scans: BatchLoader<PipelineId, Arc<Vec<Scan>>>,
    /// The alerts for which an incident was opened.
    pub alerts_of_issue: BatchLoader<IssueId, Arc<Vec<Alert>>>,
    /// The numbers of issues in their projects.
    pub issue_numbers: BatchLoader<IssueId, i64>,
}

impl SecurityLoaders {
    /// The loaders of this request.
    pub(super) fn of(context: &Context) -> Arc<Self> {
        context.loaders.of(|db| Self {
            vulnerabilities: BatchLoader::new(db, |tx, ids| {
                let found = tx.vulnerabilities_by_id(ids)?.into_iter();
                Ok(found.map(|row| (row.id, Arc::new(row))).collect())
            }),
            changes: BatchLoader::new(db, |tx, ids| {
                let mut by_id: HashMap<VulnerabilityId, Vec<StateChange>> = HashMap::new();
                for change in tx.state_changes(ids)? {
                    by_id.entry(change.vulnerability_id).or_default().push(change);
                }
                Ok(by_id.into_iter().map(|(id, all)| (id, Arc::new(all))).collect())
            }),
            alert_assignees: BatchLoader::new(db, |tx, ids| {
                let found = tx.alert_assignees(ids)?.into_iter();
                Ok(found.map(|(id, people)| (id, Arc::new(people))).collect())
            }),
            alert_notes: BatchLoader::new(db, |tx, ids| {
                let mut by_alert: HashMap<AlertId, Vec<AlertNote>> = HashMap::new();
                for note in tx.notes_of_alerts(ids)? {
                    by_alert.entry(note.alert_id).or_default().push(note);
                }
                Ok(by_alert.into_iter().map(|(id, all)| (id, Arc::new(all))).collect())
            }),
            scans: BatchLoader::new(db, |tx, ids| {
                let mut by_pipeline: HashMap<PipelineId, Vec<Scan>> = HashMap::new();
                for scan in tx.scans_of_pipelines(ids)? {
                    by_pipeline.entry(scan.pipeline_id).or_default().push(scan);
                }
                Ok(by_pipeline.into_iter().map(|(id, all)| (id, Arc::new(all))).collect())
            }),
            issue_numbers: BatchLoader::new(db, |tx, ids| {
                let ids: Vec<i64> = ids.iter().map(|id: &IssueId| id.0).collect();
                let found = tx.issues_in_order(&ids)?.into_iter();
                Ok(found.map(|issue| (issue.id, issue.iid)).collect())
            }),
            alerts_of_issue: BatchLoader::new(db, |tx, ids| {
                let mut by_issue: HashMap<IssueId, Vec<Alert>> = HashMap::new();
                for alert in tx.alerts_of_issues(ids)? {
                    if let Some(issue) = alert.issue_id {
                        by_issue.entry(issue).or_default().push(alert);
                    }
                }
                Ok(by_issue.into_iter().map(|(id, all)| (id, Arc::new(all))).collect())
            }),
        })
    }
}
