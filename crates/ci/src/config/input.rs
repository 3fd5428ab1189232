//! The inputs of the configuration compiler: the pipeline's context, and access to files and other projects.
//!
//! Everything is asked on a thread that may block. Nothing here names a database, a network or git.

use std::{sync::Arc, time::Instant};

use kernel::Result;

use super::variables::OuterVariables;
use crate::pipeline::Source;

/// The files of one commit of one project.
pub trait Tree {
    /// The full path of the project.
    fn project(&self) -> &str;
    /// The id of the commit.
    fn sha(&self) -> &str;
    /// The text of a file, if it is there. What is no UTF-8 is shown as well as it can be.
    fn text(&self, path: &str) -> Result<Option<String>>;
    /// Something that changes when the file does, if it is there.
    fn fingerprint(&self, path: &str) -> Result<Option<String>>;
    /// The paths of all files, in the order of their names.
    fn paths(&self) -> Result<Arc<[String]>>;
    /// The paths that differ from a branch, tag or commit, if there is one of that name.
    fn changed_since(&self, reference: &str) -> Result<Option<Vec<String>>>;
}

/// A project that somebody names in a file.
pub enum Project<'f> {
    Found(Box<dyn Tree + 'f>),
    /// Not there, or not for this person to read.
    NotFound,
    /// The project is there, the ref is not.
    NoReference,
}

/// Reasons for which a remote file cannot be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchFailure {
    /// The status of the answer.
    Status(u16),
    Timeout,
    Socket,
    /// It is not for a server to go there; in words that may be shown.
    Refused(String),
    Other,
    /// It has yet to be fetched: whoever answers does so, and compiles once more. What comes of this time counts for
    /// nothing.
    Pending,
}

/// A file that a job left behind.
pub enum Artifact {
    Text(String),
    /// No job of that name with artifacts is known.
    NoJob,
    /// The artifacts are without that file.
    NoFile,
    /// It is a folder.
    Folder,
    /// The artifacts, or the file, are larger than a configuration may be.
    TooLarge,
    /// Only a child pipeline has a parent whose jobs could have left something.
    NoParent,
}

/// Access to files outside of the project.
pub trait Fetch {
    /// The files of another project, at a ref or at the tip of its default branch.
    fn project(&self, path: &str, reference: Option<&str>) -> Result<Project<'_>>;
    /// The text at an address, which may be any: whoever answers guards against inner ones.
    fn remote(&self, address: &str) -> std::result::Result<String, FetchFailure>;
    /// A template of the installation's own, by its file name.
    fn template(&self, _: &str) -> Result<Option<String>> {
        Ok(None)
    }
    /// A file that a job of the parent pipeline left behind.
    fn artifact(&self, job: &str, path: &str) -> Result<Artifact>;
}

/// Predefined variables of an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentIdentity {
    pub slug: String,
    pub tier: String,
}

/// The kind of ref that a pipeline runs for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefKind {
    Branch,
    Tag,
    /// It belongs to a merge request, whatever its branch.
    MergeRequest,
}

pub struct PipelineInput<'g> {
    pub source: Source,
    pub ref_name: &'g str,
    pub ref_kind: RefKind,
    /// The full path of the project whose pipeline it is.
    pub project: &'g str,
    pub has_kubernetes: bool,
    pub variables: &'g OuterVariables,
    /// The paths changed against the base; `None` when there is nothing to compare with.
    pub changes: Option<&'g [String]>,
    pub tree: &'g dyn Tree,
    pub fetch: &'g dyn Fetch,
    /// The slug and the tier of the environment of a name.
    pub environment: fn(&str) -> EnvironmentIdentity,
    /// When looking for files, compiling patterns and comparing paths ends.
    pub deadline: Option<Instant>,
    pub limits: Limits,
}

/// Limits that administrators may set, with the product's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Letters of a document with its aliases written out.
    pub yaml_size: u64,
    /// Collections inside one another in a document.
    pub yaml_depth: usize,
    /// Files that a configuration may include, in all.
    pub includes: usize,
    /// Jobs that one job may need.
    pub needs: usize,
    /// Jobs of a pipeline.
    pub jobs: Option<usize>,
    /// Jobs that the project may have beside those that are active already.
    pub free_jobs: Option<usize>,
    /// Those of them that have an environment.
    pub deployments: Option<usize>,
}

/// A pipeline is made in one transaction, for which others wait. Administrators may set another number.
pub const MOST_JOBS: usize = 5_000;

impl Default for Limits {
    fn default() -> Self {
        Self {
            yaml_size: 2 << 20,
            yaml_depth: 100,
            includes: 150,
            needs: 50,
            jobs: Some(MOST_JOBS),
            free_jobs: None,
            deployments: Some(500),
        }
    }
}

impl<'g> PipelineInput<'g> {
    /// A push to a branch, with nothing to compare it with and nothing to look at.
    pub fn push(branch: &'g str, project: &'g str, variables: &'g OuterVariables) -> Self {
        Self {
            source: Source::Push,
            ref_name: branch,
            ref_kind: RefKind::Branch,
            project,
            has_kubernetes: false,
            variables,
            changes: None,
            tree: &NoFiles,
            fetch: &NoFiles,
            environment: |_| EnvironmentIdentity::default(),
            deadline: None,
            limits: Limits::default(),
        }
    }
}

/// No files, and nowhere to fetch from.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Tree for NoFiles {
    fn project(&self) -> &str {
        ""
    }

    fn sha(&self) -> &str {
        ""
    }

    fn text(&self, _path: &str) -> Result<Option<String>> {
        Ok(None)
    }

    fn fingerprint(&self, _path: &str) -> Result<Option<String>> {
        Ok(None)
    }

    fn paths(&self) -> Result<Arc<[String]>> {
        Ok(Arc::from([]))
    }

    fn changed_since(&self, _reference: &str) -> Result<Option<Vec<String>>> {
        Ok(None)
    }
}

impl Fetch for NoFiles {
    fn project(&self, _path: &str, _reference: Option<&str>) -> Result<Project<'_>> {
        Ok(Project::NotFound)
    }

    fn remote(&self, _address: &str) -> std::result::Result<String, FetchFailure> {
        Err(FetchFailure::Socket)
    }

    fn artifact(&self, _job: &str, _path: &str) -> Result<Artifact> {
        Ok(Artifact::NoParent)
    }
}
