// SPDX-License-Identifier: Apache-2.0
// Recent pushes, by what was in them: a client that sends the same again (its answer got lost) is
// answered as the first time and nothing is stored twice. While the first is still on its way its
// twin waits. Best effort: the last ones only, forgotten at a restart.
#include "api/seen_int.h"

struct entry {
    struct fk_seen_key key;
    struct fk_id id; // once done
    bool done;       // else still on its way
};

struct fk_api_seen {
    struct fk_mutex lock;
    struct fk_cond changed;
    struct entry *ring; // FK_SEEN_MAX, newest overwrite oldest
    uint32_t *bucket;   // hash -> index + 1; chains by next
    uint32_t *next;
    uint32_t at, n;
};

#define BUCKETS (FK_SEEN_MAX * 2)

struct fk_api_seen *fk_seen_new(void)
{
    struct fk_api_seen *s = fk_calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    fk_mutex_init(&s->lock, FK_RANK_API);
    fk_cond_init(&s->changed);
    s->ring = fk_calloc(FK_SEEN_MAX, sizeof(*s->ring));
    s->bucket = fk_calloc(BUCKETS, sizeof(*s->bucket));
    s->next = fk_calloc(FK_SEEN_MAX, sizeof(*s->next));
    if (!s->ring || !s->bucket || !s->next) {
        fk_seen_free(s);
        return NULL;
    }
    return s;
}

void fk_seen_free(struct fk_api_seen *s)
{
    if (!s)
        return;
    fk_free(s->ring);
    fk_free(s->bucket);
    fk_free(s->next);
    fk_cond_destroy(&s->changed);
    fk_mutex_destroy(&s->lock);
    fk_free(s);
}

static uint32_t bucket_of(const struct fk_seen_key *k)
{
    return (uint32_t)((k->a ^ k->b) % BUCKETS); // profiles of one push differ in b only
}

static struct entry *find(struct fk_api_seen *s, const struct fk_seen_key *k)
{
    for (uint32_t i = s->bucket[bucket_of(k)]; i; i = s->next[i - 1])
        if (s->ring[i - 1].key.a == k->a && s->ring[i - 1].key.b == k->b)
            return &s->ring[i - 1];
    return NULL;
}

static void unlink_entry(struct fk_api_seen *s, uint32_t index)
{
    uint32_t *at = &s->bucket[bucket_of(&s->ring[index].key)];
    while (*at && *at != index + 1)
        at = &s->next[*at - 1];
    if (*at)
        *at = s->next[index];
}

static void insert(struct fk_api_seen *s, const struct fk_seen_key *k)
{
    if (s->n == FK_SEEN_MAX)
        unlink_entry(s, s->at);
    else
        s->n++;
    s->ring[s->at] = (struct entry){.key = *k};
    uint32_t *bucket = &s->bucket[bucket_of(k)];
    s->next[s->at] = *bucket;
    *bucket = s->at + 1;
    s->at = (s->at + 1) % FK_SEEN_MAX;
}

bool fk_seen_begin(struct fk_api_seen *s, const struct fk_seen_key *k, struct fk_id *ret_id)
{
    bool first = true;
    fk_mutex_lock(&s->lock);
    for (struct entry *e; (e = find(s, k)) != NULL;) {
        if (e->done) {
            first = false;
            *ret_id = e->id;
            break;
        }
        fk_cond_wait(&s->changed, &s->lock);
    }
    if (first)
        insert(s, k);
    fk_mutex_unlock(&s->lock);
    return first;
}

void fk_seen_end(struct fk_api_seen *s, const struct fk_seen_key *k, const struct fk_id *stored)
{
    fk_mutex_lock(&s->lock);
    struct entry *e = find(s, k);
    if (e && stored) {
        e->id = *stored;
        e->done = true;
    } else if (e) {
        uint32_t index = (uint32_t)(e - s->ring);
        unlink_entry(s, index);
        s->ring[index].key = (struct fk_seen_key){0, 0}; // its place in the ring stays, unfindable
        s->ring[index].done = true;
    }
    fk_cond_broadcast(&s->changed);
    fk_mutex_unlock(&s->lock);
}
