//! Signs a request as one node would, and reads it as another one does: `cargo run -p forgeway-geo --example sign_requests`.
//!
//! It shows what a client of `/api/v4/geo/…` has to send, and what the server makes of clocks that are apart.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use geo::{
    credential::{Credential, Statement},
    node::{KeyPair, SecretKey},
};
use kernel::{Error, Result, Ts};
use time::Duration;

const LIFE: Duration = Duration::minutes(1);

fn main() -> Result<()> {
    let (keys, now) = (KeyPair::generate(), Ts::from_unix(1_767_225_600));
    let wish = Statement::new([
        ("replicable_name", "upload".into()),
        ("replicable_id", "0123456789abcdef/7/plan.txt".into()),
    ]);
    let shown = wish.sign((&keys.access_key, &keys.secret), LIFE, now)?;
    println!("Authorization: {shown}");

    let read = prove(&shown, &keys.secret, now)?;
    println!("at once: {}", read.text("replicable_id").unwrap_or_default());
    assert!(read.says("replicable_name", "upload") && !read.has_scope("geo_api"));
    for minutes in [-1, 1, 2, 60] {
        let at = now.plus(Duration::minutes(minutes));
        let outcome = match prove(&shown, &keys.secret, at) {
            Ok(_) => "is heard".to_owned(),
            Err(refusal) => refusal.to_string(),
        };
        println!("a clock {minutes} minutes ahead: {outcome}");
        assert_eq!(outcome == "is heard", (-1..=1).contains(&minutes));
    }
    assert!(prove(&shown, &KeyPair::generate().secret, now).is_err(), "the key of another node");
    Ok(())
}

/// What the node with this key said, where it counts at that moment.
fn prove(shown: &str, key: &SecretKey, now: Ts) -> Result<Statement> {
    Credential::parse(shown).ok_or_else(Error::unauthenticated)?.prove(key, now)
}
