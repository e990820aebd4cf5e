# SPDX-License-Identifier: MIT
"""Profiles whose locks and functions have other names."""

from __future__ import annotations

from dataclasses import replace

from hasp.profile.model.profile import Profile, Site
from hasp.profile.symbols.frame import Stack


def renamed(profile: Profile, name: str) -> Profile:
    """Return the profile with this name for every function and in every lock's name."""
    return replace(
        profile,
        sites=tuple(_site(site, name) for site in profile.sites),
        weights=tuple(
            replace(one, stack=_stack(one.stack, name)) for one in profile.weights
        ),
        lock_order=tuple(
            replace(one, stack=_stack(one.stack, name)) for one in profile.lock_order
        ),
        events=tuple(
            replace(one, stack=_stack(one.stack, name)) for one in profile.events
        ),
        held_at_end=tuple(
            replace(one, stack=_stack(one.stack, name)) for one in profile.held_at_end
        ),
    )


def _site(site: Site, name: str) -> Site:
    return replace(
        site,
        name=f"{site.place} in {name}" if name else site.place,
        created=_stack(site.created, name),
        first=_stack(site.first, name),
        holders=tuple(replace(one, function=name) for one in site.holders),
    )


def _stack(stack: Stack, name: str) -> Stack:
    return tuple(replace(frame, function=name) for frame in stack)
