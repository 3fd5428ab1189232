//! What is too large or too much.

use gateway::app::Limits;
use kernel::Visibility;

use super::{Client, Forge};
use crate::support::TestApp;

fn forge(limits: Limits) -> Forge {
    Forge::on(TestApp::with_limits(limits), Visibility::Private)
}

#[actix_web::test]
async fn a_pack_beyond_the_limit_is_refused() {
    let forge = forge(Limits { push: 100_000, ..Limits::default() });
    let client = Client::with_commit().await;
    let mut state = 7_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
    .take(150_000)
    .collect();
    client.commit_file("noise", &noise, "noise").await;

    let complaint = client.git(&["push", &forge.url(), "main"]).await.refused();

    assert!(complaint.contains("pack exceeds maximum allowed size"), "{complaint}");
    assert!(forge.events().is_empty());
    client.git(&["push", "-q", &forge.url(), "main^:refs/heads/main"]).await.ok();
}

#[actix_web::test]
async fn a_small_pack_cannot_hide_a_huge_file() {
    let forge = forge(Limits { object: 1_000_000, ..Limits::default() });
    let client = Client::with_commit().await;
    client.commit_file("zeros", &vec![0; 2_000_000], "zeros").await;
    let id = client.run("rev-parse HEAD:zeros").await.ok();

    client.git(&["push", &forge.url(), "main"]).await.told(&format!(
        "GitLab: The object {id} is 2000000 bytes large; up to 1000000 bytes are allowed."
    ));

    assert!(forge.events().is_empty());
    assert_eq!(forge.default_branch(), None);
}
