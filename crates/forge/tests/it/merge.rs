//! Accepting merge requests.

use ci::commit_status::ExternalState;
use forgeway_forge::{
    commit::status::{self, NewStatus},
    merge_request::{
        merge::{MergeOptions, accept},
        update::update_merge_request,
    },
};
use kernel::{AccessLevel::Developer, Error, Result, Visibility, error::Kind};
use org::{
    project::{
        Project, ProjectChange, SettingsChange,
        settings::{MergeMethod, SquashOption},
    },
    user::User,
};
use repo::protection::{AccessKind, BranchRuleStore as _, Holder};
use review::{
    issue::IssueState,
    merge_request::{
        MergeRequest, MergeRequestState, MergeRequestStore as _, change::MergeRequestChange,
        merge::AutoMerge,
    },
};

use crate::scratch::Scratch;

/// A project of somebody's with the merge request 1 from the branch `green`, which is one commit ahead of `main`.
struct MergeFixture {
    scratch: Scratch,
    ada: User,
    project: Project,
}

impl MergeFixture {
    async fn new() -> Self {
        let scratch = Scratch::new().await;
        let ada = scratch.person("ada").await;
        let project = scratch.project(&ada, "tea").await;
        scratch.write(&ada, &project, "green", ("green.md", "Green")).await.unwrap();
        scratch.propose(&ada, &project, "green").await.unwrap();
        Self { scratch, ada, project }
    }

    /// As [`new`](Self::new), with settings of the project.
    async fn with(settings: SettingsChange) -> Self {
        let proposal = Self::new().await;
        proposal.scratch.configure(&proposal.ada, &proposal.project, settings).await;
        proposal
    }

    async fn write(&self, branch: &str, path: &str) {
        self.scratch.write(&self.ada, &self.project, branch, (path, "Tea")).await.unwrap();
    }

    async fn merge(&self, how: AutoMerge) -> Result<MergeRequest> {
        self.merge_by(&self.ada, MergeOptions { how, ..MergeOptions::default() }).await
    }

    async fn merge_by(&self, user: &User, wish: MergeOptions) -> Result<MergeRequest> {
        let grant = self.scratch.grant(user, &self.project).await?;
        accept(&self.scratch.forge, &grant, user, 1, wish).await
    }

    async fn row(&self) -> MergeRequest {
        let project = self.project.id;
        let found = self.scratch.db().read(move |tx| tx.find_merge_request(project, 1)).await;
        found.unwrap().unwrap()
    }

    async fn report(&self, state: ExternalState) {
        let grant = self.scratch.grant(&self.ada, &self.project).await.unwrap();
        let commit = self.scratch.tip(&self.project, "green").await.unwrap().to_string();
        let status = NewStatus {
            commit,
            ref_name: Some("green".to_owned()),
            state,
            name: "taste".to_owned(),
            target_url: None,
            description: None,
            coverage: None,
            pipeline: None,
        };
        status::report(&self.scratch.forge, &grant, status).await.unwrap();
    }
}

/// The kind of a refusal; `None` for what was merged.
fn refusal(merged: Result<MergeRequest>) -> Option<Kind> {
    merged.err().map(|error| error.kind)
}

#[tokio::test]
async fn a_merge_moves_the_branch_and_the_row_together() {
    let proposal = MergeFixture::new().await;
    let main = proposal.scratch.tip(&proposal.project, "main").await.unwrap();
    let green = proposal.scratch.tip(&proposal.project, "green").await.unwrap();

    let merged = proposal.merge(AutoMerge::default()).await.unwrap();

    assert_eq!(merged.state, MergeRequestState::Merged);
    let tip = proposal.scratch.newest(&proposal.project, "main").await;
    assert_eq!(merged.merge_commit_sha, Some(tip.id.to_string()));
    assert_eq!(tip.parents, [main, green]);
}

#[tokio::test]
async fn what_is_merged_is_not_merged_again() {
    let proposal = MergeFixture::new().await;
    proposal.merge(AutoMerge::default()).await.unwrap();

    let again = proposal.merge(AutoMerge::default()).await;

    assert_eq!(refusal(again), Some(Kind::NotAllowed));
}

#[tokio::test]
async fn what_conflicts_is_not_merged() {
    let proposal = MergeFixture::new().await;
    proposal.write("main", "green.md").await;
    let before = proposal.scratch.tip(&proposal.project, "main").await;

    let refused = proposal.merge(AutoMerge::default()).await;

    assert_eq!(refusal(refused), Some(Kind::NotAllowed));
    assert_eq!(proposal.scratch.tip(&proposal.project, "main").await, before);
}

#[tokio::test]
async fn a_draft_is_not_merged() {
    let proposal = MergeFixture::new().await;
    let MergeFixture { scratch, ada, project } = &proposal;
    let grant = scratch.grant(ada, project).await.unwrap();
    let title = Some("Draft: Tea".to_owned());
    let change = MergeRequestChange { title, ..MergeRequestChange::default() };
    update_merge_request(&scratch.forge, &grant, ada, 1, change).await.unwrap();

    assert_eq!(refusal(proposal.merge(AutoMerge::default()).await), Some(Kind::NotAllowed));
}

#[tokio::test]
async fn another_head_than_the_one_that_was_seen_is_not_merged() {
    let proposal = MergeFixture::new().await;
    let how = AutoMerge { sha: Some("0".repeat(40)), ..AutoMerge::default() };

    assert_eq!(refusal(proposal.merge(how).await), Some(Kind::Conflict));
}

#[tokio::test]
async fn developers_merge_into_a_protected_branch_where_its_rule_lets_them() {
    let proposal = MergeFixture::new().await;
    let project = proposal.project.id;
    let dora = proposal.scratch.member(&proposal.project, "dora", Developer).await;

    let refused = proposal.merge_by(&dora, MergeOptions::default()).await;
    assert_eq!(refusal(refused), Some(Kind::Unauthenticated));

    let allowed = proposal.scratch.db().write(move |tx| {
        let rule = tx.find_branch_rule(project, "main")?.ok_or_else(Error::missing)?;
        tx.insert_branch_access(rule.branch.id, AccessKind::Merge, Holder::Role(Developer))
    });
    allowed.await.unwrap();
    let merged = proposal.merge_by(&dora, MergeOptions::default()).await.unwrap();
    assert_eq!(merged.merge_user_id, Some(dora.id));
}

#[tokio::test]
async fn a_fast_forward_moves_the_target_and_makes_no_commit() {
    let merge_method = Some(MergeMethod::FastForward);
    let proposal =
        MergeFixture::with(SettingsChange { merge_method, ..SettingsChange::default() }).await;

    let merged = proposal.merge(AutoMerge::default()).await.unwrap();

    assert_eq!(merged.merge_commit_sha, None);
    let MergeFixture { scratch, project, .. } = &proposal;
    assert_eq!(scratch.tip(project, "main").await, scratch.tip(project, "green").await);
}

#[tokio::test]
async fn a_target_that_went_on_is_not_fast_forwarded() {
    let merge_method = Some(MergeMethod::FastForward);
    let proposal =
        MergeFixture::with(SettingsChange { merge_method, ..SettingsChange::default() }).await;
    proposal.write("main", "black.md").await;

    let refused = proposal.merge(AutoMerge::default()).await;

    assert_eq!(refusal(refused), Some(Kind::NotAcceptable));
}

#[tokio::test]
async fn a_squash_is_one_commit_below_the_merge_commit() {
    let proposal = MergeFixture::new().await;
    proposal.write("green", "more.md").await;
    let words = Some("All of it".to_owned());
    let how = AutoMerge { squash: true, squash_commit_message: words, ..AutoMerge::default() };

    let merged = proposal.merge(how).await.unwrap();

    let squash = merged.squash_commit_sha.unwrap();
    let tip = proposal.scratch.newest(&proposal.project, "main").await;
    assert_eq!(tip.parents.last().map(ToString::to_string), Some(squash.clone()));
    let id = squash.parse().unwrap();
    let read = proposal.scratch.forge.git_read(proposal.project.id, move |git| Ok(git.commit(id)?));
    let commit = read.await.unwrap();
    assert_eq!((commit.title.as_str(), commit.author.name.as_str()), ("All of it", "ada"));
}

#[tokio::test]
async fn the_project_overrules_whether_to_squash() {
    for (option, squash, squashes) in
        [(SquashOption::Always, false, true), (SquashOption::Never, true, false)]
    {
        let squash_option = Some(option);
        let proposal =
            MergeFixture::with(SettingsChange { squash_option, ..SettingsChange::default() }).await;
        proposal.write("green", "more.md").await;

        let merged = proposal.merge(AutoMerge { squash, ..AutoMerge::default() }).await.unwrap();

        assert_eq!(merged.squash_commit_sha.is_some(), squashes, "{option}");
    }
}

#[tokio::test]
async fn the_message_follows_the_template_unless_the_caller_gives_one() {
    for (words, message) in [(None, "Tea (ada/tea!1)"), (Some("Mine"), "Mine")] {
        let merge_commit_template = Some(Some("%{title} (%{reference})".to_owned()));
        let settings = SettingsChange { merge_commit_template, ..SettingsChange::default() };
        let proposal = MergeFixture::with(settings).await;
        let merge_commit_message = words.map(str::to_owned);

        proposal.merge(AutoMerge { merge_commit_message, ..AutoMerge::default() }).await.unwrap();

        assert_eq!(proposal.scratch.newest(&proposal.project, "main").await.title, message);
    }
}

#[tokio::test]
async fn a_push_rule_about_messages_leaves_the_merge_request_open() {
    let proposal = MergeFixture::new().await;
    let grant =
        proposal.scratch.grant::<repo::policy::AdminPushRule>(&proposal.ada, &proposal.project);
    let grant = grant.await.unwrap();
    let rule = proposal.scratch.db().write(move |tx| {
        let pattern = Some("JIRA".to_owned());
        let demand = |terms: &mut repo::push_rule::Terms| terms.commit_message_regex = pattern;
        repo::push_rule::actions::create(tx, &grant, demand)
    });
    rule.await.unwrap();

    let refused = proposal.merge(AutoMerge::default()).await;

    assert_eq!(refusal(refused), Some(Kind::Unprocessable));
    let row = proposal.row().await;
    assert_eq!(row.state, MergeRequestState::Opened);
    assert!(row.merge_error.unwrap().contains("JIRA"));
}

#[tokio::test]
async fn the_source_branch_is_removed_only_where_that_is_wanted() {
    for (wish, stays) in [(Some(true), false), (Some(false), true), (None, true)] {
        let proposal = MergeFixture::new().await;
        let how = AutoMerge { should_remove_source_branch: wish, ..AutoMerge::default() };

        proposal.merge(how).await.unwrap();

        let tip = proposal.scratch.tip(&proposal.project, "green").await;
        assert_eq!(tip.is_some(), stays, "{wish:?}");
    }
}

#[tokio::test]
async fn a_merge_closes_what_its_description_names() {
    let scratch = Scratch::new().await;
    let ada = scratch.person("ada").await;
    let project = scratch.project(&ada, "tea").await;
    scratch.issue(&ada, &project, "Too little tea").await;
    scratch.write(&ada, &project, "green", ("green.md", "Green")).await.unwrap();
    scratch.propose_with(&ada, &project, "green", "Closes #1").await.unwrap();
    let proposal = MergeFixture { scratch, ada, project };

    proposal.merge(AutoMerge::default()).await.unwrap();

    let state = proposal.scratch.issue_state(&proposal.project, 1).await;
    assert_eq!(state, IssueState::Closed);
}

#[tokio::test]
async fn of_two_who_merge_at_once_one_wins() {
    let proposal = MergeFixture::new().await;

    let (one, other) =
        tokio::join!(proposal.merge(AutoMerge::default()), proposal.merge(AutoMerge::default()));

    assert_eq!([&one, &other].into_iter().filter(|merged| merged.is_ok()).count(), 1);
    assert_eq!(refusal(one).or(refusal(other)), Some(Kind::NotAllowed));
}

#[tokio::test]
async fn a_fork_is_merged_like_a_branch() {
    let scratch = Scratch::new().await;
    let (ada, bob) = (scratch.person("ada").await, scratch.person("bob").await);
    let project = scratch.project(&ada, "tea").await;
    let public = ProjectChange { visibility: Some(Visibility::Public), ..ProjectChange::default() };
    scratch.change(&ada, &project, public).await;
    let fork = scratch.fork(&bob, &project).await;
    let head = scratch.write(&bob, &fork, "black", ("black.md", "Black")).await.unwrap();
    scratch.propose_draft(&bob, &fork, Scratch::draft(&project, "black")).await.unwrap();
    let proposal = MergeFixture { scratch, ada, project };

    proposal.merge(AutoMerge::default()).await.unwrap();

    let tip = proposal.scratch.newest(&proposal.project, "main").await;
    assert_eq!(tip.parents.last(), Some(&head));
}

#[tokio::test]
async fn what_waits_for_its_pipeline_is_merged_when_that_succeeds() {
    let proposal = MergeFixture::new().await;
    proposal.report(ExternalState::Running).await;
    let wish = MergeOptions { when_pipeline_succeeds: true, ..MergeOptions::default() };

    let waits = proposal.merge_by(&proposal.ada, wish).await.unwrap();
    assert_eq!(waits.state, MergeRequestState::Opened);
    proposal.report(ExternalState::Success).await;

    assert_eq!(proposal.row().await.state, MergeRequestState::Merged);
}

#[tokio::test]
async fn nothing_waits_without_a_pipeline() {
    let proposal = MergeFixture::new().await;
    let wish = MergeOptions { when_pipeline_succeeds: true, ..MergeOptions::default() };

    let refused = proposal.merge_by(&proposal.ada, wish).await;

    assert_eq!(refusal(refused), Some(Kind::NotAllowed));
}
