//! Statistics of a repository's default branch, computed by `repo` and stored with the project.

/// A language and its bytes; or how many more there are than before.
pub type LanguageBytes = (&'static str, i64);

/// The new commit of a default branch, and its statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadMove {
    /// Without `refs/heads/`.
    pub branch: String,
    /// Commits, in hexadecimal.
    pub from: Option<String>,
    pub to: Option<String>,
    /// `None` when it could not be worked out.
    pub shows: Option<HeadFacts>,
    /// Whether the messages of the commits that it gets may close issues, as far as anybody has read them. What a merge
    /// brings is told by its merge request.
    pub names_issues: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadFacts {
    /// Paths at the top.
    pub readme: Option<String>,
    pub license: Option<String>,
    pub figures: RepositoryFigures,
}

/// Commits, and bytes by language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepositoryFigures {
    All {
        commits: i64,
        languages: Vec<LanguageBytes>,
    },
    /// Beyond those of where the branch was.
    More {
        commits: i64,
        languages: Vec<LanguageBytes>,
    },
}

impl Default for RepositoryFigures {
    /// Of a branch that is not there.
    fn default() -> Self {
        Self::All { commits: 0, languages: Vec::new() }
    }
}

/// The growth of a repository on disk, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    By(i64),
    /// All there is now.
    To(i64),
}
