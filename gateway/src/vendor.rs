//! Names that carry a vendor's name, beside the neutral ones: both are understood and sent.

/// Header with the kind of event that a webhook reports.
pub const EVENT: &str = "x-gitlab-event";
/// Its value for pipelines.
pub const PIPELINE_EVENT: &str = "Pipeline Hook";

/// The facts about a file that come as headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileHeader {
    BlobId,
    CommitId,
    ContentSha256,
    Encoding,
    ExecuteFilemode,
    FileName,
    FilePath,
    LastCommitId,
    Ref,
    Size,
}

impl FileHeader {
    /// Its names, the neutral one first.
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Self::BlobId => ["x-service-blob-id", "x-gitlab-blob-id"],
            Self::CommitId => ["x-service-commit-id", "x-gitlab-commit-id"],
            Self::ContentSha256 => ["x-service-content-sha256", "x-gitlab-content-sha256"],
            Self::Encoding => ["x-service-encoding", "x-gitlab-encoding"],
            Self::ExecuteFilemode => ["x-service-execute-filemode", "x-gitlab-execute-filemode"],
            Self::FileName => ["x-service-file-name", "x-gitlab-file-name"],
            Self::FilePath => ["x-service-file-path", "x-gitlab-file-path"],
            Self::LastCommitId => ["x-service-last-commit-id", "x-gitlab-last-commit-id"],
            Self::Ref => ["x-service-ref", "x-gitlab-ref"],
            Self::Size => ["x-service-size", "x-gitlab-size"],
        }
    }
}

/// The cursor of a runner.
pub const LAST_UPDATE: &str = "X-GitLab-Last-Update";
/// Seconds until a runner sends the next piece of a log.
pub const TRACE_INTERVAL: &str = "X-GitLab-Trace-Update-Interval";
/// How a job is, for its runner.
pub const JOB_STATUS: &str = "Job-Status";
