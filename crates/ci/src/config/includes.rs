//! The files that a configuration includes, as they are told.

/// The kind of an include.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludeKind {
    Local,
    /// Of another project.
    File,
    Remote,
    Template,
    Artifact,
}

/// A file that a configuration includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    pub kind: IncludeKind,
    /// A path, an address or a name; what is masked in variables is masked in it.
    pub location: String,
    /// Where it lies, when that is a commit of a project: path of the project and id of the commit.
    pub at: Option<(String, String)>,
    /// The other project and its ref, as written.
    pub extra: Option<(String, String)>,
    /// The project and commit of the file that names it.
    pub context: (String, String),
}
