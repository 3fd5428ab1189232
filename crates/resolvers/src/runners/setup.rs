//! Installation and registration instructions for the runner program.

use graphql::{Connection, Failure, Page, Registry, Value};

use crate::context::Context;

/// The only platform for which the program is built.
const LINUX: &str = "linux";
/// For which it can be built.
const ARCHITECTURES: &[&str] = &["386", "amd64", "arm", "arm64", "ppc64le", "riscv64", "s390x"];

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry
        .query()
        .lookup("runnerPlatforms", |_, arguments, _| async move {
            let page = arguments.page()?;
            Ok(Connection::of_list(&page, vec![linux()]).into())
        })
        .lookup("runnerSetup", |_, arguments, context| async move {
            setup(&context, &arguments.text("platform")?, &arguments.text("architecture")?)
        });
}

/// There is no program to download: it comes with the server, for whichever architecture that is built.
fn linux() -> Value {
    Value::fields(
        "RunnerPlatform",
        [
            ("architectures", Connection::of_list(&Page::beginning(), Vec::new()).into()),
            ("humanReadableName", "Linux".into()),
            ("name", LINUX.into()),
        ],
    )
}

fn setup(context: &Context, platform: &str, architecture: &str) -> Result<Value, Failure> {
    if platform != LINUX {
        return Err(Failure::message("Platform not found"));
    }
    if !ARCHITECTURES.contains(&architecture) {
        return Err(Failure::message("Architecture not found for OS"));
    }
    let url = context.forge.urls.at("");
    Ok(Value::fields(
        "RunnerSetup",
        [
            (
                "installInstructions",
                "# The runner is part of the server's program. Copy it to the machine.\n\
                 install -m 755 forgeway /usr/local/bin/forgeway"
                    .into(),
            ),
            (
                "registerInstructions",
                format!("forgeway runner register --url {url} --token <token>").into(),
            ),
        ],
    ))
}
