//! Limits that Cloudflare sets per kind and plan, as the rows name them. The engine's own limits are not here.

/// Operations that one batch of a zone's records may hold: 200 on Free zones, 3,500 on others (Cloudflare's
/// documentation of DNS record batches). A plan that is not known yet gets the smaller one, which is always taken.
#[must_use]
pub fn dns_batch(plan: &str) -> usize {
    if plan.is_empty() || plan == "free" { 200 } else { 3_500 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_plan_is_as_small_as_free() {
        assert_eq!((dns_batch(""), dns_batch("free"), dns_batch("pro")), (200, 200, 3_500));
    }
}
