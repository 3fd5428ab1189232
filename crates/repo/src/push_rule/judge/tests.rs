//! Each demand of a rule, and the sentence for whom it turns down.

use super::{Address, Commit, Person, PushRuleChecker};
use crate::push_rule::Terms;

fn judge(change: impl FnOnce(&mut Terms)) -> PushRuleChecker {
    let mut terms = Terms::default();
    change(&mut terms);
    PushRuleChecker::new(terms).unwrap()
}

fn commit() -> Commit<'static> {
    Commit {
        message: "title\n\nbody\n".into(),
        author_name: "Ann",
        author_email: "ann@example.com",
        committer_email: "cem@example.com",
        is_signed: false,
    }
}

fn cem() -> Person {
    let address = |email: &str, confirmed| Address { email: email.to_owned(), confirmed };
    let addresses = vec![address("Cem@example.com", true), address("new@example.com", false)];
    Person { name: "Cem".to_owned(), addresses }
}

fn told(change: impl FnOnce(&mut Terms)) -> Option<String> {
    judge(change).check_commit(&commit(), &cem(), false)
}

#[test]
fn a_rule_that_demands_nothing_refuses_nothing() {
    let nothing = judge(|terms| terms.commit_message_regex = Some(String::new()));
    assert!(!nothing.asks_for_commits() && !nothing.asks_for_file_names());
    assert_eq!(nothing.check_commit(&commit(), &cem(), false), None);
    assert_eq!(nothing.check_branch_name("x"), None);
    assert_eq!(nothing.check_tag_deletion(), None);
    assert_eq!(nothing.check_file_name("id_rsa".into()), None);
    assert_eq!(nothing.check_file_size("x".into(), u64::MAX), None);
}

#[test]
fn messages_must_match_somewhere_in_any_line() {
    assert_eq!(told(|terms| terms.commit_message_regex = Some("^body$".to_owned())), None);
    assert_eq!(
        told(|terms| terms.commit_message_regex = Some("JIRA".to_owned())).as_deref(),
        Some("Commit message does not follow the pattern 'JIRA'")
    );
    assert_eq!(
        told(|terms| terms.commit_message_negative_regex = Some("^body$".to_owned())).as_deref(),
        Some("Commit message contains the forbidden pattern '^body$'")
    );
    let squash = judge(|terms| terms.commit_message_regex = Some("JIRA".to_owned()));
    assert_eq!(
        squash.check_squash_message("x".into()).as_deref(),
        Some("Squash commit message does not follow the pattern 'JIRA'")
    );
}

#[test]
fn the_committer_is_looked_at_before_the_author() {
    assert_eq!(
        told(|terms| terms.author_email_regex = Some("@here$".to_owned())).as_deref(),
        Some("Committer's email 'cem@example.com' does not follow the pattern '@here$'")
    );
    assert_eq!(
        told(|terms| terms.author_email_regex = Some("^cem".to_owned())).as_deref(),
        Some("Author's email 'ann@example.com' does not follow the pattern '^cem'")
    );
    let merge = judge(|terms| terms.author_email_regex = Some("^cem".to_owned()));
    assert_eq!(
        merge.check_merge_email("x@y").as_deref(),
        Some("Author's commit email 'x@y' does not follow the pattern '^cem'")
    );
}

#[test]
fn committers_push_what_they_committed_themselves() {
    let own = judge(|terms| terms.commit_committer_check = Some(true));
    let of = |email: &'static str| {
        own.check_commit(&Commit { committer_email: email, ..commit() }, &cem(), false)
    };
    assert_eq!(of("cem@EXAMPLE.com"), None);
    assert_eq!(
        of("new@example.com").as_deref(),
        Some("Committer email 'new@example.com' is not verified.")
    );
    assert_eq!(
        of("ann@example.com").as_deref(),
        Some(
            "You cannot push commits for 'ann@example.com'. You can only push commits if the committer email is one of your own verified emails."
        )
    );
}

#[test]
fn names_sign_offs_and_signatures_are_asked_for_in_this_order() {
    let all = |terms: &mut Terms| {
        terms.commit_committer_name_check = Some(true);
        terms.reject_non_dco_commits = Some(true);
        terms.reject_unsigned_commits = Some(true);
    };
    let strict = judge(all);
    let check = |commit: &Commit<'_>, exempt| strict.check_commit(commit, &cem(), exempt);
    let mut one = commit();
    assert_eq!(
        check(&one, false).as_deref(),
        Some("Your git author name is inconsistent with GitLab account name")
    );
    one.author_name = "Cem";
    assert_eq!(check(&one, false).as_deref(), Some("Commit message must contain a DCO signoff"));
    one.message = "x\n\nSigned-off-by: Cem <cem@example.com>\n".into();
    assert_eq!(check(&one, false).as_deref(), Some("Commit must be signed with a GPG key"));
    assert_eq!(check(&one, true), None);
    one.is_signed = true;
    assert_eq!(check(&one, false), None);
}

#[test]
fn authors_and_committers_must_be_known() {
    let members = judge(|terms| terms.member_check = true);
    let check = |author, committer| {
        members.check_members(author, committer, |email| email == "ann@example.com")
    };
    assert_eq!(check("Ann@example.com", "ann@EXAMPLE.com"), None);
    assert_eq!(
        check("x@y", "ann@example.com").as_deref(),
        Some("Author 'x@y' is not a member of team")
    );
    assert_eq!(
        check("ann@example.com", "x@y").as_deref(),
        Some("Committer 'x@y' is not a member of team")
    );
}

#[test]
fn file_names_that_tell_of_secrets_come_before_the_own_pattern() {
    let both = judge(|terms| {
        terms.prevent_secrets = true;
        terms.file_name_regex = Some("rsa".to_owned());
    });
    for (path, pattern) in [
        ("a/id_rsa", "id_rsa$"),
        ("id_rsa.pub", "rsa"),
        ("home/aws/credentials", r"aws\/credentials$"),
        (
            "ssh/server_ed25519_sk.txt",
            r"(ssh|config)\/(personal|server)_(rsa|dsa|ed25519|ecdsa|ecdsa_sk|ed25519_sk)",
        ),
        ("x.pem", r"\.(pem|key)$"),
        (".bash_history", "[._]history$"),
    ] {
        let text = format!("File name {path} was prohibited by the pattern \"{pattern}\".");
        assert_eq!(both.check_file_name(path.into()), Some(text));
    }
    assert_eq!(both.check_file_name("history/readme".into()), None);
}

#[test]
fn branches_tags_and_sizes_have_their_sentences() {
    let strict = judge(|terms| {
        terms.branch_name_regex = Some("^f-".to_owned());
        terms.deny_delete_tag = true;
        terms.max_file_size = 1;
    });
    assert_eq!(strict.check_branch_name("f-1"), None);
    assert_eq!(
        strict.check_branch_name("x").as_deref(),
        Some("Branch name 'x' does not follow the pattern '^f-'")
    );
    assert_eq!(strict.check_tag_deletion().as_deref(), Some("You cannot delete a tag"));
    assert_eq!(strict.check_file_size("a".into(), 1 << 20), None);
    assert_eq!(
        strict.check_file_size("a b".into(), (1 << 20) + 1).as_deref(),
        Some(
            "File \"a b\" is larger than the allowed size of 1 MB. Use Git LFS to manage this file."
        )
    );
}

#[test]
fn a_pattern_that_is_none_any_more_refuses_in_its_own_words() {
    let terms = Terms { branch_name_regex: Some("(?=a)".to_owned()), ..Terms::default() };
    let told = PushRuleChecker::new(terms).unwrap_err().to_string();
    assert_eq!(told, "Regular expression '(?=a)' is invalid: invalid perl operator: (?=");
}
