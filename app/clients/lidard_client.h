/* Reads the stream of lidard: C99 or C++, this header alone, POSIX.
 *
 *   lidard_client client;
 *   if (lidard_connect(&client, "/run/lidard/stream.sock") != 0) puts(client.error);
 *   lidard_message message;
 *   while (lidard_next(&client, &message, -1) == 1) {
 *     lidard_cloud cloud;
 *     if (lidard_as_cloud(&message, &cloud)) ...
 *   }
 *   lidard_close(&client);
 *
 * The stream is MCAP with ROS 2 messages in CDR. What was kept for those who come later (poses,
 * configuration, state) comes first, then everything, in order of log time. Who reads too slowly
 * loses the oldest messages, never a part of one; `client.lost` counts them. Messages and views of
 * them are valid until the next call. Not for several threads at once. */
#ifndef LIDARD_CLIENT_H
#define LIDARD_CLIENT_H

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LIDARD_LONGEST_RECORD = 64 << 20 }; /* bytes; a longer one is no stream of lidard */

typedef struct {
  char topic[128], type[64]; /* "/front/points", "sensor_msgs/msg/PointCloud2" */
  uint32_t sequence;         /* of its newest message; 0: none came yet */
} lidard_channel;

typedef struct {
  int fd; /* for poll(), or -1 */
  uint8_t* buffer;
  size_t capacity, begin, end; /* of the buffer; what is unread */
  int begun;                   /* the magic bytes were read */
  lidard_channel* channels;    /* by id */
  size_t channel_count;
  char (*types)[64]; /* of schemas, by id */
  size_t type_count;
  uint64_t messages, lost; /* read; missing by the numbers of their channels */
  char error[192];         /* why the last call failed, for people */
} lidard_client;

typedef struct {
  const char *topic, *type;
  uint32_t sequence; /* counts what the topic's source produced: a gap is a loss */
  int64_t log_time_ns, publish_time_ns; /* Unix; when it was measured, when it was sent */
  const uint8_t* data;                  /* CDR */
  size_t size;
} lidard_message;

typedef struct {
  int64_t stamp_ns; /* Unix */
  const char* frame_id;
} lidard_header;

typedef struct {
  lidard_header header;
  uint32_t count, step;
  const uint8_t* points;
  int x, y, z, intensity, time, origin; /* offsets in a point; -1: it has none */
} lidard_cloud;

typedef struct {
  float x, y, z;   /* m */
  float intensity; /* the device's own number */
  float time;      /* s, relative to the stamp */
  uint32_t origin; /* of merged clouds: which lidar */
} lidard_point;

typedef struct {
  lidard_header header;
  float angle_min, angle_max, angle_increment; /* rad, counter-clockwise */
  float time_increment, scan_time;             /* s */
  float range_min, range_max;                  /* m */
  uint32_t count, intensity_count;
  const uint8_t *ranges, *intensities; /* see lidard_range() */
} lidard_scan;

typedef struct {
  lidard_header header;
  int has_orientation, has_angular_velocity, has_linear_acceleration;
  double orientation[4];         /* x y z w */
  double angular_velocity[3];    /* rad/s */
  double linear_acceleration[3]; /* m/s^2, gravity in it */
} lidard_imu;

/* To the Unix socket at `path`. 0, or -1 with client->error. */
static inline int lidard_connect(lidard_client* client, const char* path);

/* The next message: 1; 0: none within `timeout_ms` (-1: for ever), or a signal came; -1: the stream has ended or is
 * broken, see client->error: close and connect again. */
static inline int lidard_next(lidard_client* client, lidard_message* message, int timeout_ms);

static inline void lidard_close(lidard_client* client);

/* What a message says; 0: it is of another type, or damaged. */
static inline int lidard_as_cloud(const lidard_message* message, lidard_cloud* cloud);
static inline int lidard_as_scan(const lidard_message* message, lidard_scan* scan);
static inline int lidard_as_imu(const lidard_message* message, lidard_imu* imu);

/* i < count */
static inline lidard_point lidard_point_at(const lidard_cloud* cloud, uint32_t i);
static inline float lidard_range(const lidard_scan* scan, uint32_t i); /* m; +inf: nothing in reach */
static inline float lidard_intensity(const lidard_scan* scan, uint32_t i);

/* ------------------------------------------------------------------------------------------ */

static inline uint64_t lidard_number_(const uint8_t* at, size_t bytes) {
  uint64_t value = 0;
  size_t i;
  for (i = bytes; i-- > 0;) value = value << 8 | at[i];
  return value;
}

static inline float lidard_float_(const uint8_t* at) {
  const uint32_t bits = (uint32_t)lidard_number_(at, 4);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline double lidard_double_(const uint8_t* at) {
  const uint64_t bits = lidard_number_(at, 8);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline int lidard_failed_(lidard_client* client, const char* what, const char* why) {
  snprintf(client->error, sizeof client->error, "%s: %s", what, why);
  return -1;
}

static inline int lidard_connect(lidard_client* client, const char* path) {
  struct sockaddr_un address;
  memset(client, 0, sizeof *client);
  client->fd = -1;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) return lidard_failed_(client, path, "too long");
  memcpy(address.sun_path, path, strlen(path));
  client->fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (client->fd < 0) return lidard_failed_(client, path, strerror(errno));
  if (connect(client->fd, (const struct sockaddr*)&address, sizeof address) != 0) {
    lidard_failed_(client, path, strerror(errno));
    close(client->fd);
    client->fd = -1;
    return -1;
  }
  return 0;
}

static inline void lidard_close(lidard_client* client) {
  if (client->fd >= 0) close(client->fd);
  free(client->buffer);
  free(client->channels);
  free(client->types);
  client->fd = -1;
  client->buffer = NULL;
  client->channels = NULL;
  client->types = NULL;
  client->capacity = client->begin = client->end = 0;
  client->channel_count = client->type_count = 0;
}

/* A record's parts, one after the other. */
typedef struct {
  const uint8_t* at;
  size_t left;
  int ok;
} lidard_parts_;

static inline const uint8_t* lidard_take_(lidard_parts_* parts, size_t bytes) {
  const uint8_t* const at = parts->at;
  if (!parts->ok || bytes > parts->left) {
    parts->ok = 0;
    return NULL;
  }
  parts->at += bytes;
  parts->left -= bytes;
  return at;
}

static inline uint64_t lidard_take_number_(lidard_parts_* parts, size_t bytes) {
  const uint8_t* const at = lidard_take_(parts, bytes);
  return at ? lidard_number_(at, bytes) : 0;
}

static inline void lidard_take_text_(lidard_parts_* parts, char* text, size_t capacity) {
  const size_t size = (size_t)lidard_take_number_(parts, 4);
  const uint8_t* const at = lidard_take_(parts, size);
  const size_t kept = size < capacity ? size : capacity - 1;
  if (at) memcpy(text, at, kept);
  text[at ? kept : 0] = '\0';
}

/* Room for an element `id` behind `*count`; zeroed. 0: there is no memory. */
static inline int lidard_grow_(void** elements, size_t* count, size_t id, size_t size) {
  void* more;
  if (id < *count) return 1;
  more = realloc(*elements, (id + 1) * size);
  if (!more) return 0;
  memset((char*)more + *count * size, 0, (id + 1 - *count) * size);
  *elements = more;
  *count = id + 1;
  return 1;
}

static inline int lidard_declare_(lidard_client* client, unsigned opcode, lidard_parts_ parts) {
  const size_t id = (size_t)lidard_take_number_(&parts, 2);
  void* elements = opcode == 3 ? (void*)client->types : (void*)client->channels;
  if (opcode == 3) {
    if (!lidard_grow_(&elements, &client->type_count, id, sizeof *client->types)) return 0;
    client->types = (char (*)[64])elements;
    lidard_take_text_(&parts, client->types[id], sizeof *client->types);
  } else {
    size_t type;
    if (!lidard_grow_(&elements, &client->channel_count, id, sizeof *client->channels)) return 0;
    client->channels = (lidard_channel*)elements;
    type = (size_t)lidard_take_number_(&parts, 2);
    lidard_take_text_(&parts, client->channels[id].topic, sizeof client->channels[id].topic);
    if (type < client->type_count) {
      memcpy(client->channels[id].type, client->types[type], sizeof *client->types);
    }
  }
  return parts.ok;
}

static inline int lidard_message_(lidard_client* client, lidard_parts_ parts, lidard_message* message) {
  lidard_channel* channel;
  const size_t id = (size_t)lidard_take_number_(&parts, 2);
  message->sequence = (uint32_t)lidard_take_number_(&parts, 4);
  message->log_time_ns = (int64_t)lidard_take_number_(&parts, 8);
  message->publish_time_ns = (int64_t)lidard_take_number_(&parts, 8);
  message->data = parts.at;
  message->size = parts.left;
  if (!parts.ok || id >= client->channel_count) return 0;
  channel = &client->channels[id];
  message->topic = channel->topic;
  message->type = channel->type;
  if (channel->sequence != 0 && message->sequence > channel->sequence + 1) {
    client->lost += message->sequence - channel->sequence - 1;
  }
  channel->sequence = message->sequence;
  ++client->messages;
  return 1;
}

/* 1: more bytes; 0: none in time; -1. */
static inline int lidard_read_(lidard_client* client, size_t wanted, int timeout_ms) {
  struct pollfd waiting;
  ssize_t n;
  if (client->begin > 0) {
    memmove(client->buffer, client->buffer + client->begin, client->end - client->begin);
    client->end -= client->begin;
    client->begin = 0;
  }
  if (client->capacity < wanted || client->capacity == 0) {
    const size_t capacity = wanted > 65536 ? wanted : 65536;
    void* const more = realloc(client->buffer, capacity);
    if (!more) return lidard_failed_(client, "the stream", "no memory");
    client->buffer = (uint8_t*)more;
    client->capacity = capacity;
  }
  waiting.fd = client->fd;
  waiting.events = POLLIN;
  waiting.revents = 0;
  n = poll(&waiting, 1, timeout_ms);
  if (n == 0 || (n < 0 && errno == EINTR)) return 0;
  do {
    n = read(client->fd, client->buffer + client->end, client->capacity - client->end);
  } while (n < 0 && errno == EINTR);
  if (n < 0) return lidard_failed_(client, "the stream", strerror(errno));
  if (n == 0) return lidard_failed_(client, "the stream", "it has ended");
  client->end += (size_t)n;
  return 1;
}

static inline int lidard_next(lidard_client* client, lidard_message* message, int timeout_ms) {
  static const uint8_t kMagic[8] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};
  if (client->fd < 0) return lidard_failed_(client, "the stream", "it is not connected");
  for (;;) {
    const size_t held = client->end - client->begin;
    const uint8_t* const at = client->buffer + client->begin;
    size_t wanted = client->begun ? 9 : sizeof kMagic;
    if (held >= wanted && !client->begun) {
      if (memcmp(at, kMagic, sizeof kMagic) != 0) {
        return lidard_failed_(client, "the stream", "this is no MCAP");
      }
      client->begun = 1;
      client->begin += sizeof kMagic;
      continue;
    }
    if (held >= wanted) {
      const uint64_t length = lidard_number_(at + 1, 8);
      if (length > LIDARD_LONGEST_RECORD) {
        return lidard_failed_(client, "the stream", "a record is too long");
      }
      wanted += (size_t)length;
      if (held >= wanted) {
        lidard_parts_ parts;
        parts.at = at + 9;
        parts.left = (size_t)length;
        parts.ok = 1;
        client->begin += wanted;
        if (at[0] == 5 && lidard_message_(client, parts, message)) return 1;
        if ((at[0] == 3 || at[0] == 4) && !lidard_declare_(client, at[0], parts)) {
          return lidard_failed_(client, "the stream", "a record is damaged, or there is no memory");
        }
        continue;
      }
    }
    {
      const int more = lidard_read_(client, wanted, timeout_ms);
      if (more <= 0) return more;
    }
  }
}

/* CDR: numbers are aligned to their size, counted from behind the first 4 bytes. */
typedef struct {
  const uint8_t* data;
  size_t size, at;
  int ok;
} lidard_cdr_;

static inline lidard_cdr_ lidard_cdr_of_(const lidard_message* message, const char* type) {
  lidard_cdr_ cdr;
  cdr.data = message->data;
  cdr.size = message->size;
  cdr.at = 4;
  cdr.ok = strcmp(message->type, type) == 0 && message->size >= 4 && message->data[1] == 1;
  return cdr;
}

static inline const uint8_t* lidard_cdr_bytes_(lidard_cdr_* cdr, size_t align, size_t bytes) {
  const size_t at = 4 + ((cdr->at - 4 + align - 1) & ~(align - 1));
  if (!cdr->ok || at > cdr->size || bytes > cdr->size - at) {
    cdr->ok = 0;
    return NULL;
  }
  cdr->at = at + bytes;
  return cdr->data + at;
}

static inline uint32_t lidard_cdr_u32_(lidard_cdr_* cdr) {
  const uint8_t* const at = lidard_cdr_bytes_(cdr, 4, 4);
  return at ? (uint32_t)lidard_number_(at, 4) : 0;
}

static inline float lidard_cdr_f32_(lidard_cdr_* cdr) {
  const uint8_t* const at = lidard_cdr_bytes_(cdr, 4, 4);
  return at ? lidard_float_(at) : 0;
}

static inline const char* lidard_cdr_text_(lidard_cdr_* cdr) {
  const uint32_t size = lidard_cdr_u32_(cdr);
  const uint8_t* const at = lidard_cdr_bytes_(cdr, 1, size);
  if (at && size > 0 && at[size - 1] == '\0') return (const char*)at;
  cdr->ok = 0;
  return "";
}

static inline void lidard_cdr_header_(lidard_cdr_* cdr, lidard_header* header) {
  const int32_t seconds = (int32_t)lidard_cdr_u32_(cdr);
  header->stamp_ns = (int64_t)seconds * 1000000000 + lidard_cdr_u32_(cdr);
  header->frame_id = lidard_cdr_text_(cdr);
}

static inline void lidard_cdr_doubles_(lidard_cdr_* cdr, double* into, size_t n) {
  size_t i;
  for (i = 0; i < n; ++i) {
    const uint8_t* const at = lidard_cdr_bytes_(cdr, 8, 8);
    const double value = at ? lidard_double_(at) : 0;
    if (into) into[i] = value;
  }
}

/* A vector and its covariance, whose first element is -1 where the vector is not known. */
static inline int lidard_cdr_known_(lidard_cdr_* cdr, double* vector, size_t n) {
  double covariance[9];
  lidard_cdr_doubles_(cdr, vector, n);
  lidard_cdr_doubles_(cdr, covariance, 9);
  return covariance[0] != -1;
}

static inline int lidard_as_cloud(const lidard_message* message, lidard_cloud* cloud) {
  lidard_cdr_ cdr = lidard_cdr_of_(message, "sensor_msgs/msg/PointCloud2");
  uint32_t height, fields, bytes;
  memset(cloud, 0, sizeof *cloud);
  cloud->x = cloud->y = cloud->z = cloud->intensity = cloud->time = cloud->origin = -1;
  lidard_cdr_header_(&cdr, &cloud->header);
  height = lidard_cdr_u32_(&cdr);
  cloud->count = height * lidard_cdr_u32_(&cdr);
  for (fields = lidard_cdr_u32_(&cdr); cdr.ok && fields > 0; --fields) {
    const char* const name = lidard_cdr_text_(&cdr);
    const int offset = (int)lidard_cdr_u32_(&cdr);
    lidard_cdr_bytes_(&cdr, 1, 1);
    lidard_cdr_u32_(&cdr);
    if (strcmp(name, "x") == 0) cloud->x = offset;
    if (strcmp(name, "y") == 0) cloud->y = offset;
    if (strcmp(name, "z") == 0) cloud->z = offset;
    if (strcmp(name, "intensity") == 0) cloud->intensity = offset;
    if (strcmp(name, "time") == 0) cloud->time = offset;
    if (strcmp(name, "origin") == 0) cloud->origin = offset;
  }
  lidard_cdr_bytes_(&cdr, 1, 1);
  cloud->step = lidard_cdr_u32_(&cdr);
  lidard_cdr_u32_(&cdr);
  bytes = lidard_cdr_u32_(&cdr);
  cloud->points = lidard_cdr_bytes_(&cdr, 1, bytes);
  return cdr.ok && (uint64_t)cloud->count * cloud->step <= bytes;
}

static inline float lidard_field_(const uint8_t* point, uint32_t step, int offset) {
  return offset >= 0 && (uint32_t)offset + 4 <= step ? lidard_float_(point + offset) : 0;
}

static inline lidard_point lidard_point_at(const lidard_cloud* cloud, uint32_t i) {
  const uint8_t* const at = cloud->points + (size_t)i * cloud->step;
  lidard_point point;
  point.x = lidard_field_(at, cloud->step, cloud->x);
  point.y = lidard_field_(at, cloud->step, cloud->y);
  point.z = lidard_field_(at, cloud->step, cloud->z);
  point.intensity = lidard_field_(at, cloud->step, cloud->intensity);
  point.time = lidard_field_(at, cloud->step, cloud->time);
  point.origin = cloud->origin >= 0 && (uint32_t)cloud->origin + 4 <= cloud->step
                     ? (uint32_t)lidard_number_(at + cloud->origin, 4)
                     : 0;
  return point;
}

static inline int lidard_as_scan(const lidard_message* message, lidard_scan* scan) {
  lidard_cdr_ cdr = lidard_cdr_of_(message, "sensor_msgs/msg/LaserScan");
  memset(scan, 0, sizeof *scan);
  lidard_cdr_header_(&cdr, &scan->header);
  scan->angle_min = lidard_cdr_f32_(&cdr);
  scan->angle_max = lidard_cdr_f32_(&cdr);
  scan->angle_increment = lidard_cdr_f32_(&cdr);
  scan->time_increment = lidard_cdr_f32_(&cdr);
  scan->scan_time = lidard_cdr_f32_(&cdr);
  scan->range_min = lidard_cdr_f32_(&cdr);
  scan->range_max = lidard_cdr_f32_(&cdr);
  scan->count = lidard_cdr_u32_(&cdr);
  scan->ranges = lidard_cdr_bytes_(&cdr, 4, (size_t)scan->count * 4);
  scan->intensity_count = lidard_cdr_u32_(&cdr);
  scan->intensities = lidard_cdr_bytes_(&cdr, 4, (size_t)scan->intensity_count * 4);
  return cdr.ok;
}

static inline float lidard_range(const lidard_scan* scan, uint32_t i) {
  return lidard_float_(scan->ranges + 4 * (size_t)i);
}

static inline float lidard_intensity(const lidard_scan* scan, uint32_t i) {
  return i < scan->intensity_count ? lidard_float_(scan->intensities + 4 * (size_t)i) : 0;
}

static inline int lidard_as_imu(const lidard_message* message, lidard_imu* imu) {
  lidard_cdr_ cdr = lidard_cdr_of_(message, "sensor_msgs/msg/Imu");
  memset(imu, 0, sizeof *imu);
  lidard_cdr_header_(&cdr, &imu->header);
  imu->has_orientation = lidard_cdr_known_(&cdr, imu->orientation, 4);
  imu->has_angular_velocity = lidard_cdr_known_(&cdr, imu->angular_velocity, 3);
  imu->has_linear_acceleration = lidard_cdr_known_(&cdr, imu->linear_acceleration, 3);
  return cdr.ok;
}

#ifdef __cplusplus
}
#endif

#endif
