//! Checks of a push rule on branch names, commit messages, authors and files, with their error texts.

use bstr::{BStr, ByteSlice as _};
use kernel::{Error, Result};

use super::{model::Terms, pattern::Pattern};

/// Files that hold secrets more often than not, in the order in which they are looked for.
const SECRETS: [&str; 10] = [
    r"aws\/credentials$",
    r"(ssh|config)\/(personal|server)_(rsa|dsa|ed25519|ecdsa|ecdsa_sk|ed25519_sk)",
    r"id_rsa$",
    r"id_dsa$",
    r"id_ed25519$",
    r"id_ecdsa$",
    r"id_ecdsa_sk$",
    r"id_ed25519_sk$",
    r"\.(pem|key)$",
    r"[._]history$",
];

/// What every commit says that somebody takes the responsibility for.
const SIGN_OFF: &str = "Signed-off-by:.+<.+@.+>";
const MEGABYTE: u64 = 1 << 20;

/// Sentences for the pusher, if the rule is violated.
pub type Complaint = Option<String>;

/// The pusher.
#[derive(Clone, Debug, Default)]
pub struct Person {
    pub name: String,
    pub addresses: Vec<Address>,
}

/// An e-mail address of somebody.
#[derive(Clone, Debug)]
pub struct Address {
    pub email: String,
    /// Whether they have shown that it is theirs.
    pub confirmed: bool,
}

/// The parts of a commit that rules apply to.
#[derive(Clone, Copy, Debug)]
pub struct Commit<'a> {
    pub message: &'a BStr,
    pub author_name: &'a str,
    pub author_email: &'a str,
    pub committer_email: &'a str,
    pub is_signed: bool,
}

/// A push rule with compiled patterns.
#[derive(Clone, Debug)]
pub struct PushRuleChecker {
    terms: Terms,
    message: Option<Pattern>,
    forbidden: Option<Pattern>,
    branch: Option<Pattern>,
    email: Option<Pattern>,
    files: Vec<Pattern>,
    sign_off: Option<Pattern>,
}

impl PushRuleChecker {
    /// # Errors
    /// `BadRequest` when a pattern that was once good is none any more.
    pub fn new(terms: Terms) -> Result<Self> {
        let secrets = SECRETS.iter().filter(|_| terms.prevent_secrets).map(|text| Some(*text));
        let files = secrets.chain([terms.file_name_regex.as_deref()]);
        let files = files.filter_map(|source| ready(source, Pattern::new).transpose());
        let sign_off = Some(SIGN_OFF).filter(|_| is_on(terms.reject_non_dco_commits));
        Ok(Self {
            message: ready(terms.commit_message_regex.as_deref(), Pattern::of_lines)?,
            forbidden: ready(terms.commit_message_negative_regex.as_deref(), Pattern::of_lines)?,
            branch: ready(terms.branch_name_regex.as_deref(), Pattern::new)?,
            email: ready(terms.author_email_regex.as_deref(), Pattern::new)?,
            files: files.collect::<Result<_>>()?,
            sign_off: ready(sign_off, Pattern::new)?,
            terms,
        })
    }

    /// Whether the names of files matter.
    pub fn asks_for_file_names(&self) -> bool {
        !self.files.is_empty()
    }

    /// Whether what commits say of themselves matters.
    pub fn asks_for_commits(&self) -> bool {
        self.message.is_some()
            || self.forbidden.is_some()
            || self.email.is_some()
            || self.sign_off.is_some()
            || self.asks_for_pusher()
            || is_on(self.terms.reject_unsigned_commits)
            || self.terms.member_check
    }

    /// Whether it matters who pushes.
    pub fn asks_for_pusher(&self) -> bool {
        is_on(self.terms.commit_committer_check) || is_on(self.terms.commit_committer_name_check)
    }

    /// Whether authors must be known here.
    pub fn asks_for_members(&self) -> bool {
        self.terms.member_check
    }

    /// Beyond so many bytes a file is refused.
    pub fn largest_file(&self) -> Option<u64> {
        let megabytes = u64::try_from(self.terms.max_file_size).unwrap_or_default();
        (megabytes > 0).then(|| megabytes * MEGABYTE)
    }

    pub fn check_tag_deletion(&self) -> Complaint {
        self.terms.deny_delete_tag.then(|| "You cannot delete a tag".to_owned())
    }

    /// For every branch but the default one.
    pub fn check_branch_name(&self, name: &str) -> Complaint {
        let pattern = self.branch.as_ref().filter(|pattern| !pattern.matches(name))?;
        Some(format!("Branch name '{name}' does not follow the pattern '{}'", pattern.source()))
    }

    /// Everything about one commit, but whether its people are known here.
    pub fn check_commit(&self, commit: &Commit<'_>, pusher: &Person, exempt: bool) -> Complaint {
        self.check_message(commit.message)
            .or_else(|| self.check_emails(commit))
            .or_else(|| self.check_committer(commit.committer_email, pusher))
            .or_else(|| self.check_name(commit.author_name, pusher))
            .or_else(|| self.check_sign_off(commit.message))
            .or_else(|| self.check_signature(commit.is_signed || exempt))
    }

    pub fn check_message(&self, message: &BStr) -> Complaint {
        self.check_message_called("Commit message", message)
    }

    /// The message of the one commit into which others are squashed.
    pub fn check_squash_message(&self, message: &BStr) -> Complaint {
        self.check_message_called("Squash commit message", message)
    }

    fn check_message_called(&self, what: &str, message: &BStr) -> Complaint {
        if let Some(wanted) = self.message.as_ref().filter(|wanted| !wanted.matches(message)) {
            return Some(format!("{what} does not follow the pattern '{}'", wanted.source()));
        }
        let forbidden = self.forbidden.as_ref().filter(|pattern| pattern.matches(message))?;
        Some(format!("{what} contains the forbidden pattern '{}'", forbidden.source()))
    }

    fn check_emails(&self, commit: &Commit<'_>) -> Complaint {
        let people = [("Committer", commit.committer_email), ("Author", commit.author_email)];
        people
            .into_iter()
            .find_map(|(who, email)| self.check_email(&format!("{who}'s email"), email))
    }

    /// The address under which somebody merges.
    pub fn check_merge_email(&self, email: &str) -> Complaint {
        self.check_email("Author's commit email", email)
    }

    fn check_email(&self, whose: &str, email: &str) -> Complaint {
        let pattern = self.email.as_ref().filter(|pattern| !pattern.matches(email))?;
        Some(format!("{whose} '{email}' does not follow the pattern '{}'", pattern.source()))
    }

    fn check_committer(&self, email: &str, pusher: &Person) -> Complaint {
        if !is_on(self.terms.commit_committer_check) {
            return None;
        }
        let same = |address: &&Address| address.email.to_lowercase() == email.to_lowercase();
        match pusher.addresses.iter().find(same) {
            Some(address) if address.confirmed => None,
            Some(_) => Some(format!("Committer email '{email}' is not verified.")),
            None => Some(format!(
                "You cannot push commits for '{email}'. You can only push commits if the committer email is one of your own verified emails."
            )),
        }
    }

    fn check_name(&self, author: &str, pusher: &Person) -> Complaint {
        let wrong = is_on(self.terms.commit_committer_name_check) && author != pusher.name;
        wrong.then(|| "Your git author name is inconsistent with GitLab account name".to_owned())
    }

    fn check_sign_off(&self, message: &BStr) -> Complaint {
        let missing = self.sign_off.as_ref().is_some_and(|pattern| !pattern.matches(message));
        missing.then(|| "Commit message must contain a DCO signoff".to_owned())
    }

    fn check_signature(&self, is_signed: bool) -> Complaint {
        let missing = is_on(self.terms.reject_unsigned_commits) && !is_signed;
        missing.then(|| "Commit must be signed with a GPG key".to_owned())
    }

    /// `is_known` is asked with addresses in small letters.
    pub fn check_members(
        &self,
        author: &str,
        committer: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Complaint {
        if !self.terms.member_check {
            return None;
        }
        let (small_author, small_committer) = (author.to_lowercase(), committer.to_lowercase());
        if !is_known(&small_author) {
            return Some(format!("Author '{author}' is not a member of team"));
        }
        if small_author != small_committer && !is_known(&small_committer) {
            return Some(format!("Committer '{committer}' is not a member of team"));
        }
        None
    }

    /// For every path that was not there before.
    pub fn check_file_name(&self, path: &BStr) -> Complaint {
        let pattern = self.files.iter().find(|pattern| pattern.matches(path))?;
        let path = path.to_str_lossy();
        Some(format!("File name {path} was prohibited by the pattern \"{}\".", pattern.source()))
    }

    /// For every file with a new content.
    pub fn check_file_size(&self, path: &BStr, bytes: u64) -> Complaint {
        self.largest_file().filter(|limit| bytes > *limit)?;
        let (path, limit) = (path.to_str_lossy(), self.terms.max_file_size);
        Some(format!(
            "File \"{path}\" is larger than the allowed size of {limit} MB. Use Git LFS to manage this file."
        ))
    }
}

/// As the function of this name in `actions`.
pub(super) fn ensure_branch_may_be_made(terms: &Terms, name: &str) -> Result<()> {
    match ready(terms.branch_name_regex.as_deref(), Pattern::new)? {
        Some(pattern) if !pattern.matches(name) => Err(Error::bad_request().whole(format!(
            "Cannot create branch. The branch name must match this regular expression: {}",
            pattern.source()
        ))),
        _ => Ok(()),
    }
}

fn is_on(term: Option<bool>) -> bool {
    term.unwrap_or_default()
}

fn ready(
    source: Option<&str>,
    compile: impl FnOnce(&str) -> std::result::Result<Pattern, String>,
) -> Result<Option<Pattern>> {
    let Some(source) = source.filter(|source| !source.is_empty()) else { return Ok(None) };
    match compile(source) {
        Ok(pattern) => Ok(Some(pattern)),
        Err(detail) => Err(Error::bad_request()
            .whole(format!("Regular expression '{source}' is invalid: {detail}"))),
    }
}

#[cfg(test)]
mod tests;
