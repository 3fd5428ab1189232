//! What a configuration would come to, without making a pipeline of it.

use std::sync::Arc;

use ci::{
    config::{
        Lint, dry_run,
        input::{PipelineInput, RefKind, Tree as _},
        lint,
        variables::{OuterVariables, Variable, of_project, of_server},
    },
    pipeline::{PipelineRef, Source},
    policy::CreatePipelines,
    ports::Refs as _,
};
use kernel::{
    Ability as _, Actor, Error, Result, Standing, access::ProjectFacts, task::spawn_blocking,
};
use org::project::settings::SettingsStore as _;
use repo::{
    commit::read::{commit_named, default_head},
    git::{Oid, Reader},
};

use super::{
    compile::RunContext,
    config::{
        BorrowedReader, CONFIG_PATH, Files, OtherProjects, OwnedReader, elsewhere,
        environment_identity, server,
    },
    limits,
    make::{closed, place},
    remote_files::{CompilePass, in_passes},
    variables::{all_variables, stored_variables},
};
use crate::{Forge, ports::ci::Refs};

/// Which text is judged.
#[derive(Clone, Debug)]
pub enum Text {
    Given(String),
    /// The configuration of a commit, or of the tip of the default branch.
    Committed(Option<String>),
}

/// A request to validate a CI/CD configuration in a project.
#[derive(Clone)]
pub struct LintRequest {
    pub forge: Forge,
    pub project: Arc<ProjectFacts>,
    pub who: Standing,
    pub text: Text,
    /// Whether a push to the ref is played through.
    pub dry_run: bool,
    /// A branch or tag; the default branch when left out.
    pub ref_name: Option<String>,
}

/// A branch or tag, its commit, and whether it is protected.
struct Tip {
    place: PipelineRef,
    commit: Option<Oid>,
    protected: bool,
}

/// What there is to say of a text that belongs to no project.
///
/// # Errors
/// When too many such texts wait already.
pub async fn lint_text(forge: &Forge, actor: Actor, text: String) -> Result<Lint> {
    let text = Arc::new(text);
    in_passes(forge, actor, |pass| {
        let (own, text) = (forge.clone(), Arc::clone(&text));
        without_repository(forge, move || judge_text(&own, actor, &text, &pass))
    })
    .await
}

/// Runs what reads no repository on a thread that may block; only so many at once.
async fn without_repository(
    forge: &Forge,
    work: impl FnOnce() -> Result<Lint> + Send + 'static,
) -> Result<Lint> {
    let slot = forge.lints.take_soon().await?;
    let done = spawn_blocking(move || {
        let _slot = slot;
        work()
    });
    done.await.map_err(Error::internal)?
}

fn judge_text(forge: &Forge, actor: Actor, text: &str, pass: &CompilePass) -> Result<Lint> {
    let given = PipelineInput {
        source: Source::Push,
        ref_name: "",
        ref_kind: RefKind::Branch,
        project: "",
        has_kubernetes: false,
        variables: &OuterVariables { beneath: of_server(&server(forge)), above: Vec::new() },
        changes: None,
        tree: &Files::<OwnedReader>::new(None, "", None),
        fetch: &OtherProjects { forge, actor, pass, parent: None },
        environment: environment_identity,
        deadline: Some(pass.deadline()),
        limits: forge.db.read_blocking(limits::of_compilation)?,
    };
    lint(text, &given)
}

impl LintRequest {
    /// What there is to say of it. A project whose repository is not there yet has no files.
    ///
    /// # Errors
    /// When there is no such commit, or too many such questions wait already.
    pub async fn answer(&self) -> Result<Lint> {
        in_passes(&self.forge, self.who.actor, |pass| async move {
            let (asked, here) = (self.clone(), Arc::clone(&pass));
            let read = self
                .forge
                .git_read(self.project.id, move |reader| asked.judge(Some(reader), &here));
            match read.await {
                Err(gone) if gone.is_not_found("Repository") => {
                    let asked = self.clone();
                    without_repository(&self.forge, move || asked.judge(None, &pass)).await
                }
                read => read,
            }
        })
        .await
    }

    fn judge(&self, reader: Option<&Reader>, pass: &CompilePass) -> Result<Lint> {
        let head = match reader {
            Some(reader) => default_head(reader, &self.project)?,
            None => None,
        };
        let (text, commit) = self.text(reader, head)?;
        if !self.dry_run {
            let tip = self.default_tip(commit.or(head))?;
            return self.compiled(reader, &text, &tip, pass);
        }
        match self.tip(reader)? {
            Ok(tip) => {
                let tip = Tip { commit: commit.or(tip.commit), ..tip };
                self.compiled(reader, &text, &tip, pass)
            }
            Err(refusal) => Ok(Lint { errors: vec![refusal], ..Lint::default() }),
        }
    }

    /// The text, and the commit from which it is.
    fn text(&self, reader: Option<&Reader>, head: Option<Oid>) -> Result<(String, Option<Oid>)> {
        let sha = match &self.text {
            Text::Given(text) => return Ok((text.clone(), None)),
            Text::Committed(sha) => sha.as_deref(),
        };
        let (Some(reader), Some(head)) = (reader, head) else {
            return Err(Error::not_found("Repository"));
        };
        let commit = sha.map_or(Ok(head), |sha| commit_named(reader, sha))?;
        let settings = self.forge.db.read_blocking(|tx| tx.project_settings(self.project.id))?;
        let path = settings.ci_config_path.filter(|path| !path.trim().is_empty());
        let installation = self.forge.settings();
        let usual = installation.default_ci_config_path().unwrap_or(CONFIG_PATH);
        let path = path.as_deref().unwrap_or(usual);
        let text = match elsewhere(path) {
            Some(include) => include,
            None => Files::new(Some(BorrowedReader(reader)), &self.project.full_path, Some(commit))
                .text(path)?
                .unwrap_or_default(),
        };
        Ok((text, Some(commit)))
    }

    /// The default branch at a commit. Protected only for those who may run something there: it decides which variables
    /// are known.
    fn default_tip(&self, commit: Option<Oid>) -> Result<Tip> {
        let name = self.project.default_branch.clone().unwrap_or_default();
        let place = PipelineRef { name, tag: false };
        let (project, who) = (self.project.id, &self.who);
        let guarded = self.forge.db.read_blocking(|tx| Refs.guarded(tx, who, project, &place))?;
        Ok(Tip { place, commit, protected: guarded.protected && guarded.open })
    }

    /// The ref of a dry run, or why no pipeline would be made for it.
    fn tip(&self, reader: Option<&Reader>) -> Result<std::result::Result<Tip, String>> {
        if !CreatePipelines::allows(&self.who) {
            return Ok(Err("Insufficient permissions to create a new pipeline".to_owned()));
        }
        let missing = || Ok(Err("Reference not found".to_owned()));
        let name = self.ref_name.as_deref().filter(|name| !name.is_empty());
        let name = name.or(self.project.default_branch.as_deref());
        let (Some(reader), Some(name)) = (reader, name) else { return missing() };
        let (place, commit) = match place(reader, name)? {
            Ok(found) => found,
            Err(sentence) => return Ok(Err(sentence.to_owned())),
        };
        let (project, who) = (self.project.id, &self.who);
        let guarded = self.forge.db.read_blocking(|tx| Refs.guarded(tx, who, project, &place))?;
        if guarded.protected && !guarded.open {
            return Ok(Err(closed(&place.name)));
        }
        Ok(Ok(Tip { place, commit: Some(commit), protected: guarded.protected }))
    }

    fn compiled(
        &self,
        reader: Option<&Reader>,
        text: &str,
        tip: &Tip,
        pass: &CompilePass,
    ) -> Result<Lint> {
        let judge = if self.dry_run { dry_run } else { lint };
        let kind = if tip.place.tag { RefKind::Tag } else { RefKind::Branch };
        judge(
            text,
            &PipelineInput {
                source: Source::Push,
                ref_name: &tip.place.name,
                ref_kind: kind,
                project: &self.project.full_path,
                has_kubernetes: false,
                variables: &self.variables(reader, tip, kind)?,
                changes: None,
                tree: &Files::new(reader.map(BorrowedReader), &self.project.full_path, tip.commit),
                fetch: &OtherProjects {
                    forge: &self.forge,
                    actor: self.who.actor,
                    pass,
                    parent: None,
                },
                environment: environment_identity,
                deadline: Some(pass.deadline()),
                limits: self.forge.db.read_blocking(limits::of_compilation)?,
            },
        )
    }

    /// What a push would know. Values that people keep are for those alone who could have a job print them.
    fn variables(
        &self,
        reader: Option<&Reader>,
        tip: &Tip,
        kind: RefKind,
    ) -> Result<OuterVariables> {
        let server = server(&self.forge);
        let (Some(reader), Some(commit)) = (reader, tip.commit) else {
            let mut beneath = of_server(&server);
            beneath.extend(of_project(&server, &self.project));
            beneath.push(Variable::public("CI_PIPELINE_SOURCE", Source::Push.to_string()));
            return Ok(OuterVariables { beneath, above: Vec::new() });
        };
        let context = RunContext {
            facts: Arc::clone(&self.project),
            user: self.who.actor.id,
            actor: self.who.actor,
            source: Source::Push,
            place: tip.place.clone(),
            shown: tip.place.name.clone(),
            kind,
            commit,
            before: None,
            tip: None,
            iid: None,
            protected: tip.protected,
            variables: Vec::new(),
            merge_request: None,
            text: None,
            parent: None,
            config_source: None,
            inherited: Vec::new(),
        };
        let forge = &self.forge;
        let mut stored = forge.db.read_blocking(|tx| stored_variables(tx, forge, &context))?;
        if !CreatePipelines::allows(&self.who) {
            stored.above.clear();
        }
        Ok(all_variables(&server, &context, &context.read_commit(reader)?, stored))
    }
}
