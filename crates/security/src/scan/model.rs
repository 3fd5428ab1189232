//! A scan as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{JobId, PipelineId, ProjectId},
};
use serde::{Deserialize, Serialize};
use worker::Job;

use crate::vulnerability::ReportType;

kernel::text_enum! {
    pub enum ScanStatus {
        Succeeded = "succeeded",
        /// Nothing of its report was kept.
        Failed = "failed",
    }
}

/// A report that was read, or could not be.
#[derive(Clone, Debug)]
pub struct NewScan {
    pub job: JobId,
    pub report_type: ReportType,
    pub on_default_branch: bool,
    /// Whose findings it tells; empty where it failed.
    pub scanners: Vec<String>,
    pub findings: usize,
    /// Why it failed, in sentences; empty where it did not.
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
}

impl NewScan {
    pub fn status(&self) -> ScanStatus {
        match self.errors.is_empty() {
            true => ScanStatus::Succeeded,
            false => ScanStatus::Failed,
        }
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::security_scans, check_for_backend(db::AnyBackend))]
pub struct Scan {
    pub id: i64,
    pub project_id: ProjectId,
    pub pipeline_id: PipelineId,
    pub job_id: JobId,
    pub report_type: ReportType,
    pub status: ScanStatus,
    /// A JSON list.
    pub errors: String,
    /// A JSON list.
    pub warnings: String,
    pub findings: i64,
    pub created_at: Ts,
    /// Vulnerabilities come of no other report.
    pub on_default_branch: bool,
}

impl Scan {
    pub fn error_list(&self) -> Result<Vec<String>> {
        serde_json::from_str(&self.errors).map_err(Error::internal)
    }

    pub fn warning_list(&self) -> Result<Vec<String>> {
        serde_json::from_str(&self.warnings).map_err(Error::internal)
    }
}

/// Imports the reports of a pipeline.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ImportReports {
    pub project: ProjectId,
    pub pipeline: PipelineId,
    #[serde(default = "yes")]
    pub on_default_branch: bool,
}

/// Work that was queued before other branches were read says nothing of it.
fn yes() -> bool {
    true
}

impl Job for ImportReports {
    const KIND: &'static str = "security.import_reports";

    fn unique_key(&self) -> Option<String> {
        Some(self.pipeline.to_string())
    }
}
