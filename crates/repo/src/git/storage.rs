//! Paths of repositories on disk, and their creation and removal.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::UNIX_EPOCH,
};

use kernel::ids::{NamespaceId, ProjectId};
use sha2::{Digest as _, Sha256};

use super::{GitError, RefName, Result};

const CONFIG: &str = "\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[gc]
\tauto = 0
[transfer]
\thideRefs = refs/keep-around
";

/// The folder of one repository. Only [`Storage`] makes one, so nobody can point git somewhere else.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RepoPath(Arc<Path>);

impl RepoPath {
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for RepoPath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

/// The proof that its holder has just made a repository, and may take it away again.
#[derive(Debug)]
pub struct NewRepository(RepoPath);

impl NewRepository {
    pub fn path(&self) -> &RepoPath {
        &self.0
    }
}

/// The owner of a wiki.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wiki {
    Project(ProjectId),
    Group(NamespaceId),
}

/// All repositories below one data folder.
#[derive(Clone, Debug)]
pub struct Storage {
    root: Arc<Path>,
}

impl Storage {
    /// `root` is the data folder; it should be absolute, since git is started in other folders.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into().into() }
    }

    /// Where the repository of `project` lies, or would. Names and moves of a project never change it.
    pub fn repository(&self, project: ProjectId) -> RepoPath {
        self.hashed(&project.to_string())
    }

    /// Where the repository behind a wiki lies, or would, beside those of projects. Projects and groups share no ids, so
    /// the kind of their parent is part of the name.
    pub fn wiki(&self, wiki: Wiki) -> RepoPath {
        self.hashed(&match wiki {
            Wiki::Project(project) => format!("wiki-project-{project}"),
            Wiki::Group(group) => format!("wiki-group-{group}"),
        })
    }

    fn hashed(&self, name: &str) -> RepoPath {
        let name = hex::encode(Sha256::digest(name));
        let folder = self.root.join("repositories").join(&name[..2]).join(&name[2..4]);
        RepoPath(folder.join(format!("{name}.git")).into())
    }

    pub fn exists(&self, project: ProjectId) -> bool {
        is_there(&self.repository(project))
    }

    /// Whether a wiki was ever written.
    pub fn wiki_exists(&self, wiki: Wiki) -> bool {
        is_there(&self.wiki(wiki))
    }

    /// Makes an empty repository whose HEAD names `default_branch`. It appears whole or not at all.
    pub fn create(&self, project: ProjectId, default_branch: &RefName) -> Result<RepoPath> {
        self.make(self.repository(project), default_branch)
    }

    /// As [`create`](Self::create), for those who may have to take it back.
    pub fn begin(&self, project: ProjectId, default_branch: &RefName) -> Result<NewRepository> {
        self.create(project, default_branch).map(NewRepository)
    }

    /// Moves a repository out of the way that was made for nothing.
    pub fn take_back(&self, NewRepository(path): NewRepository) -> Result<()> {
        self.discard(&path)
    }

    /// Whether the repository of a project came into being at this moment (in seconds since 1970) or later.
    pub fn is_younger(&self, project: ProjectId, moment: i64) -> bool {
        let head = fs::metadata(self.repository(project).as_path().join("HEAD"));
        let at = head.and_then(|head| head.modified()).ok();
        let seconds = at.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        seconds.is_some_and(|age| i64::try_from(age.as_secs()).is_ok_and(|at| at >= moment))
    }

    /// As [`create`](Self::create), for a wiki.
    pub fn create_wiki(&self, wiki: Wiki, default_branch: &RefName) -> Result<RepoPath> {
        self.make(self.wiki(wiki), default_branch)
    }

    /// A repository that nobody ever writes to, for those who read what nobody has written yet.
    pub fn nothing(&self, default_branch: &RefName) -> Result<RepoPath> {
        let name = hex::encode(Sha256::digest(default_branch.as_bstr()));
        let path = RepoPath(self.root.join("tmp").join(format!("nothing-{name}.git")).into());
        if is_there(&path) {
            return Ok(path);
        }
        match self.make(path.clone(), default_branch) {
            // Somebody else made it in the same moment.
            Err(_) if is_there(&path) => Ok(path),
            made => made,
        }
    }

    fn make(&self, target: RepoPath, default_branch: &RefName) -> Result<RepoPath> {
        let folder = parent(target.as_path())?;
        make_folders(&self.root, folder)?;
        let draft = tempfile::Builder::new().prefix(".new-").tempdir_in(folder)?;
        fill(draft.path(), default_branch)?;
        if target.as_path().exists() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
        }
        fs::rename(draft.path(), target.as_path())?;
        // Moved into place: there is nothing left to clean up.
        let _ = draft.keep();
        sync(folder)?;
        Ok(target)
    }

    /// Moves the repository out of the way at once; its bytes stay until [`empty_trash`](Self::empty_trash).
    pub fn delete(&self, project: ProjectId) -> Result<()> {
        self.discard(&self.repository(project))
    }

    /// As [`delete`](Self::delete), for a wiki.
    pub fn delete_wiki(&self, wiki: Wiki) -> Result<()> {
        self.discard(&self.wiki(wiki))
    }

    fn discard(&self, target: &RepoPath) -> Result<()> {
        let trash = self.root.join("trash");
        make_folders(&self.root, &trash)?;
        let slot = tempfile::Builder::new().prefix("repository-").tempdir_in(&trash)?;
        match fs::rename(target.as_path(), slot.path().join("repository.git")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(GitError::NotFound),
            Err(error) => Err(error.into()),
            Ok(()) => {
                let _ = slot.keep();
                sync(&trash)?;
                Ok(sync(parent(target.as_path())?)?)
            }
        }
    }

    /// Shows every repository that lies on disk, in no particular order.
    pub fn each(&self, mut visit: impl FnMut(RepoPath) -> Result<()>) -> Result<()> {
        let mut folders = vec![(self.root.join("repositories"), 0)];
        while let Some((folder, depth)) = folders.pop() {
            // One that is removed meanwhile needs no visit.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if depth < 2 {
                    folders.push((path, depth + 1));
                } else if path.extension().is_some_and(|end| end == "git") {
                    visit(RepoPath(path.into()))?;
                }
            }
        }
        Ok(())
    }

    /// Removes what was deleted.
    pub fn empty_trash(&self) -> Result<()> {
        let entries = match fs::read_dir(self.root.join("trash")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            fs::remove_dir_all(entry?.path())?;
        }
        Ok(())
    }
}

fn is_there(path: &RepoPath) -> bool {
    path.as_path().join("HEAD").is_file()
}

fn parent(path: &Path) -> Result<&Path> {
    path.parent().ok_or(GitError::NotFound)
}

fn fill(folder: &Path, default_branch: &RefName) -> io::Result<()> {
    for name in [
        "objects",
        "objects/info",
        "objects/pack",
        "refs",
        "refs/heads",
        "refs/tags",
        "info",
        "hooks",
    ] {
        fs::create_dir(folder.join(name))?;
    }
    let mut head = b"ref: ".to_vec();
    head.extend_from_slice(default_branch.as_bstr());
    head.push(b'\n');
    write(&folder.join("HEAD"), &head)?;
    write(&folder.join("config"), CONFIG.as_bytes())?;
    for name in ["objects", "refs", ""] {
        sync(&folder.join(name))?;
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// As `create_dir_all`, but the new names outlive a power cut.
fn make_folders(root: &Path, folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    for above in folder.ancestors().skip(1) {
        sync(above)?;
        if above == root {
            break;
        }
    }
    Ok(())
}

/// Makes the names in a folder durable.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use kernel::ids::{NamespaceId, ProjectId};

    use super::{Storage, Wiki};
    use crate::git::{GitError, RefName};

    #[test]
    fn a_repository_lies_under_the_hash_of_its_project() {
        let path = Storage::new("/data").repository(ProjectId(1));
        assert_eq!(
            path.as_path().to_str(),
            Some(
                "/data/repositories/6b/86/6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b.git"
            )
        );
    }

    #[test]
    fn a_repository_comes_and_goes_whole() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path());
        let (project, main) = (ProjectId(7), RefName::branch("trunk").unwrap());
        assert!(!storage.exists(project));

        let path = storage.create(project, &main).unwrap();

        assert!(storage.exists(project));
        assert!(storage.create(project, &main).is_err());
        let opened = gix::open_opts(path.as_path(), gix::open::Options::isolated()).unwrap();
        assert_eq!(opened.head_name().unwrap().unwrap().as_bstr(), "refs/heads/trunk");
        let around = std::fs::read_dir(path.as_path().parent().unwrap()).unwrap();
        assert_eq!(around.count(), 1, "no draft is left");

        storage.delete(project).unwrap();

        assert!(!storage.exists(project));
        assert!(matches!(storage.delete(project), Err(GitError::NotFound)));
        assert_eq!(std::fs::read_dir(folder.path().join("trash")).unwrap().count(), 1);
        storage.empty_trash().unwrap();
        assert_eq!(std::fs::read_dir(folder.path().join("trash")).unwrap().count(), 0);
        assert!(storage.create(project, &main).is_ok());
    }

    #[test]
    fn only_who_made_a_repository_can_take_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path());
        let (project, main) = (ProjectId(7), RefName::branch("main").unwrap());

        let made = storage.begin(project, &main).unwrap();
        assert!(storage.begin(project, &main).is_err(), "nobody gets a proof for another's");
        assert!(storage.is_younger(project, 1_700_000_000));
        assert!(!storage.is_younger(project, 7_000_000_000));

        storage.take_back(made).unwrap();
        assert!(!storage.exists(project));
    }

    #[test]
    fn a_wiki_lies_beside_the_projects_and_is_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path());
        let (ours, theirs) = (Wiki::Project(ProjectId(7)), Wiki::Group(NamespaceId(7)));
        let main = RefName::branch("main").unwrap();

        storage.create_wiki(ours, &main).unwrap();

        assert!(storage.wiki_exists(ours));
        assert!(!storage.wiki_exists(theirs));
        assert!(!storage.exists(ProjectId(7)));
        let mut found = Vec::new();
        let keep = |path| {
            found.push(path);
            Ok(())
        };
        storage.each(keep).unwrap();
        assert_eq!(found, [storage.wiki(ours)]);

        storage.delete_wiki(ours).unwrap();
        assert!(!storage.wiki_exists(ours));
        assert!(matches!(storage.delete_wiki(ours), Err(GitError::NotFound)));
    }
}
