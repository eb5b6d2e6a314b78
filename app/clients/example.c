/* Prints one line per message of a running lidard. Usage: example [SOCKET [MESSAGES]]
 * cc -std=c99 -o example example.c */
#define _POSIX_C_SOURCE 200809L
#include "lidard_client.h"

#include <inttypes.h>

int main(int argc, char** argv) {
  const char* const path = argc > 1 ? argv[1] : "/run/lidard/stream.sock";
  long left = argc > 2 ? atol(argv[2]) : -1;
  lidard_client client;
  lidard_message message;
  if (lidard_connect(&client, path) != 0) {
    fprintf(stderr, "example: %s\n", client.error);
    return 1;
  }
  while (left != 0 && lidard_next(&client, &message, -1) == 1) {
    lidard_cloud cloud;
    lidard_scan scan;
    lidard_imu imu;
    printf("%s %" PRIu32 " %" PRId64, message.topic, message.sequence, message.log_time_ns);
    if (lidard_as_cloud(&message, &cloud)) {
      printf(" %" PRIu32 " points in %s", cloud.count, cloud.header.frame_id);
      if (cloud.count > 0) {
        const lidard_point last = lidard_point_at(&cloud, cloud.count - 1);
        printf(", the last at %.3f %.3f %.3f", (double)last.x, (double)last.y, (double)last.z);
      }
    } else if (lidard_as_scan(&message, &scan)) {
      printf(" %" PRIu32 " ranges from %.3f to %.3f rad", scan.count, (double)scan.angle_min,
             (double)scan.angle_max);
    } else if (lidard_as_imu(&message, &imu)) {
      printf(" accel %.3f %.3f %.3f%s", imu.linear_acceleration[0], imu.linear_acceleration[1],
             imu.linear_acceleration[2], imu.has_orientation ? ", with attitude" : "");
    }
    printf("\n");
    if (left > 0) --left;
  }
  if (left != 0) fprintf(stderr, "example: %s\n", client.error);
  fprintf(stderr, "%" PRIu64 " messages, %" PRIu64 " lost\n", client.messages, client.lost);
  lidard_close(&client);
  return left == 0 ? 0 : 1;
}
