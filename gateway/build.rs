//! Tells the program from which commit it is built. Only what is released is told: another commit would build
//! everything anew that is being worked on.

#[path = "src/revision.rs"]
mod revision;

use std::{env, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/revision.rs");
    let released = env::var_os("PROFILE").is_some_and(|profile| profile == "release");
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().filter(|_| released);
    let revision = match checkout.and_then(revision::Revision::of) {
        None => env!("CARGO_PKG_VERSION").to_owned(),
        Some(found) => {
            for path in found.read {
                println!("cargo::rerun-if-changed={}", path.display());
            }
            found.short
        }
    };
    println!("cargo::rustc-env=FORGEWAY_REVISION={revision}");
}
