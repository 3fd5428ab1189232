//! Scans in the database.

use db::{Fragment, OneOf as _, Tx, each_backend, error, schema::security_scans as scans};
use diesel::{
    dsl::{exists, max},
    prelude::*,
};
use kernel::{
    Error, Result,
    ids::{PipelineId, ProjectId},
};

use super::{NewScan, Scan, ScanStatus};
use crate::vulnerability::ReportType;

const NOUN: &str = "Scan";

/// Whether any job of a project brought a report; `project` is the column of its ID.
pub fn has_reports(project: &str) -> Fragment {
    Fragment::new(format!("EXISTS (SELECT 1 FROM security_scans s WHERE s.project_id = {project})"))
}

pub trait ScanStore {
    /// Those of a pipeline, the oldest first.
    fn scans_of_pipeline(&mut self, pipeline: PipelineId) -> Result<Vec<Scan>>;
    /// Those of several pipelines, the oldest first.
    fn scans_of_pipelines(&mut self, pipelines: &[PipelineId]) -> Result<Vec<Scan>>;
    /// Those of the newest pipeline of the default branch that brought reports.
    fn newest_scans(&mut self, project: ProjectId) -> Result<Vec<Scan>>;
    /// Whether a newer pipeline of the default branch brought a report of this kind that was kept.
    fn has_newer_scan(
        &mut self,
        project: ProjectId,
        report_type: ReportType,
        than: PipelineId,
    ) -> Result<bool>;
    /// Keeps what became of a report, in the place of what was known before.
    fn save_scan(&mut self, project: ProjectId, pipeline: PipelineId, scan: &NewScan)
    -> Result<()>;
}

impl ScanStore for Tx<'_> {
    fn scans_of_pipeline(&mut self, pipeline: PipelineId) -> Result<Vec<Scan>> {
        self.scans_of_pipelines(&[pipeline])
    }

    fn scans_of_pipelines(&mut self, pipelines: &[PipelineId]) -> Result<Vec<Scan>> {
        if pipelines.is_empty() {
            return Ok(Vec::new());
        }
        each_backend!(self, |conn| scans::table
            .filter(scans::pipeline_id.one_of(pipelines))
            .order(scans::id)
            .select(Scan::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn newest_scans(&mut self, project: ProjectId) -> Result<Vec<Scan>> {
        let of_default = scans::table
            .filter(scans::project_id.eq(project))
            .filter(scans::on_default_branch.eq(true))
            .select(max(scans::pipeline_id));
        let newest: Option<PipelineId> =
            each_backend!(self, |conn| of_default.get_result(conn).map_err(error(NOUN)))?;
        newest.map_or(Ok(Vec::new()), |pipeline| self.scans_of_pipeline(pipeline))
    }

    fn has_newer_scan(
        &mut self,
        project: ProjectId,
        report_type: ReportType,
        than: PipelineId,
    ) -> Result<bool> {
        let newer = scans::table
            .filter(scans::project_id.eq(project))
            .filter(scans::report_type.eq(report_type))
            .filter(scans::pipeline_id.gt(than))
            .filter(scans::status.eq(ScanStatus::Succeeded))
            .filter(scans::on_default_branch.eq(true));
        each_backend!(self, |conn| diesel::select(exists(newer))
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn save_scan(
        &mut self,
        project: ProjectId,
        pipeline: PipelineId,
        scan: &NewScan,
    ) -> Result<()> {
        let before = scans::table
            .filter(scans::job_id.eq(scan.job).and(scans::report_type.eq(scan.report_type)));
        each_backend!(self, |conn| diesel::delete(before).execute(conn).map_err(error(NOUN)))?;
        let json = |all: &[String]| serde_json::to_string(all).map_err(Error::internal);
        let row = (
            scans::project_id.eq(project),
            scans::pipeline_id.eq(pipeline),
            scans::job_id.eq(scan.job),
            scans::report_type.eq(scan.report_type),
            scans::status.eq(scan.status()),
            scans::errors.eq(json(&scan.errors)?),
            scans::warnings.eq(json(&scan.warnings)?),
            scans::findings.eq(i64::try_from(scan.findings).unwrap_or(i64::MAX)),
            scans::created_at.eq(self.now),
            scans::on_default_branch.eq(scan.on_default_branch),
        );
        let insert = diesel::insert_into(scans::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
