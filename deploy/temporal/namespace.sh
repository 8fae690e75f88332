#!/bin/sh
# Makes the namespace and the search attributes where they are missing; safe to run again.
# Expects TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, which the temporal command reads by itself.
set -eu

until temporal operator cluster health; do
    sleep 2
done

temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 720h

until temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
    --name InterlockTenant --type Keyword \
    --name InterlockPhase --type Keyword \
    --name InterlockOwner --type Keyword \
    --name InterlockOwnerEpoch --type Int \
    --name InterlockIntent --type Keyword \
    --name InterlockHandoffReason --type Keyword \
    --name InterlockOpenActions --type Int \
    --name InterlockUnknownActions --type Int; do
    sleep 2 # a namespace that was made a moment ago is not known to every part of the server yet
done
