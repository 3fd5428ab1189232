//! From which commit the program is built; read by the build script, and here only to be tested.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// As many digits as the API shows of a commit.
const DIGITS: usize = 8;

/// The revision of a checkout.
pub(crate) struct Revision {
    /// The beginning of the commit's id.
    pub(crate) short: String,
    /// What says something else once another commit is checked out.
    pub(crate) read: Vec<PathBuf>,
}

impl Revision {
    /// The commit that is checked out in a folder; `None` where there is no checkout.
    pub(crate) fn of(checkout: &Path) -> Option<Self> {
        let git = git_folder(checkout)?;
        let common = match read(&git.join("commondir")) {
            Some(path) => git.join(path),
            None => git.clone(),
        };
        let head = read(&git.join("HEAD"))?;
        let (id, refs) = match head.strip_prefix("ref: ") {
            None => (head, None),
            Some(name) => {
                let (id, read) = resolved(&common, name)?;
                (id, Some(read))
            }
        };
        if id.len() < 40 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        // The log of HEAD grows with each commit, also where the ref moves to another file.
        let watched = [git.join("HEAD"), git.join("logs/HEAD")].into_iter().chain(refs);
        let read = watched.filter(|path| path.exists()).collect();
        Some(Self { short: id[..DIGITS].to_owned(), read })
    }
}

fn read(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// A worktree has a file that says where its folder is.
fn git_folder(checkout: &Path) -> Option<PathBuf> {
    let git = checkout.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    Some(checkout.join(read(&git)?.strip_prefix("gitdir: ")?))
}

/// What a ref names, and the file that says so: its own, or that of many.
fn resolved(common: &Path, name: &str) -> Option<(String, PathBuf)> {
    let loose = common.join(name);
    if let Some(id) = read(&loose) {
        return Some((id, loose));
    }
    let packed = common.join("packed-refs");
    let lines = read(&packed)?;
    let named = |line: &str| line.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned);
    Some((lines.lines().find_map(named)?, packed))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::Revision;

    const ID: &str = "0123456789abcdef0123456789abcdef01234567";

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn short(checkout: &Path) -> Option<String> {
        Revision::of(checkout).map(|found| found.short)
    }

    #[test]
    fn a_checkout_tells_its_commit_wherever_the_ref_lies() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        write(&git.join("HEAD"), "ref: refs/heads/a/b\n");
        assert_eq!(short(folder.path()), None, "nothing is committed");

        write(&git.join("packed-refs"), &format!("# packed\n{ID} refs/heads/a/b\n"));
        assert_eq!(short(folder.path()).as_deref(), Some("01234567"));

        write(&git.join("refs/heads/a/b"), &format!("fedcba98{}\n", &ID[8..]));
        assert_eq!(short(folder.path()).as_deref(), Some("fedcba98"));

        write(&git.join("HEAD"), &format!("{ID}\n"));
        assert_eq!(short(folder.path()).as_deref(), Some("01234567"), "no branch");
    }

    #[test]
    fn a_worktree_is_a_checkout_and_another_folder_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (main, worktree) = (folder.path().join("main/.git"), folder.path().join("tree"));
        write(&worktree.join(".git"), "gitdir: ../main/.git/worktrees/tree\n");
        write(&main.join("worktrees/tree/HEAD"), "ref: refs/heads/x\n");
        write(&main.join("worktrees/tree/commondir"), "../..\n");
        write(&main.join("refs/heads/x"), ID);

        let found = Revision::of(&worktree).unwrap();

        assert_eq!((found.short.as_str(), found.read.len()), ("01234567", 2));
        assert_eq!(short(folder.path()), None);
    }
}
